import { ErrorPolicy } from '../errors/index.ts';
import type { EventBus } from '../events/index.ts';
import { createEventBus } from '../events/index.ts';
import type { Run, RunArgs, Runnable } from '../step-by-step/index.ts';
import { createStepByStep } from '../step-by-step/index.ts';
import type { ContextNeeded, ToolInput, Tools } from '../tools/index.ts';
import type { ToolUseLimits, ToolUseOptions } from './options.ts';
import { argsProblem } from './args-problem.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Rules } from './process.ts';
import { createToolUseProcess } from './process.ts';
import { checkOptions, toSetup, withDefaultLimits } from './setup.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { ToolEvent } from './typed-events.ts';

/** The budgets of a small tool loop. */
const defaultLimits: ToolUseLimits = { steps: 3, tokens: 8192, wallMs: 30_000 };

/**
 * A model and its tools, without an identity of its own: the small loop inside larger things.
 * Stateless: one may run many states side by side. Stops at 3 steps, 8,192 tokens, 30 seconds and any failure, unless told otherwise.
 */
export class ToolUse<Context = unknown, const Given extends Tools = Tools, Output extends ToolInput = ToolInput> implements Runnable<
  ToolUseState,
  Context & ContextNeeded<Given>,
  ToolEvent<Given>
> {
  readonly name = 'tool-use';
  readonly #runnable: Runnable<ToolUseState, Context & ContextNeeded<Given>, ToolEvent<Given>>;
  /** The same for two with the same instructions, tools, limits and policy. */
  readonly fingerprint: string;
  readonly toolNames: readonly string[];
  /** True where a run has to be given a context. */
  readonly needsContext: boolean;
  /** What is wrong with the arguments for one of its tools; undefined where they fit, or where the tool is not its own. */
  readonly checkArgs: (toolName: string, args: unknown) => Promise<string | undefined>;
  /** Hears one kind of event of every run. */
  readonly onEvent: EventBus<ToolEvent<Given>>['on'];
  /** Hears every event of every run. */
  readonly wiretap: EventBus<ToolEvent<Given>>['wiretap'];

  constructor(options: ToolUseOptions<ToolUseState, Context, Given, Output>) {
    checkOptions(options);
    const { limits, errors: policy = ErrorPolicy.stopOnAnyError(), finishReasons, ports } = options;
    const setup = toSetup<ToolUseState, Context & ContextNeeded<Given>, Given, Output>(this.name, options as never);
    const rules: Rules<ToolUseState> = {
      limits: withDefaultLimits(defaultLimits, limits),
      policy,
      criteria: setup.criteria,
      ...(finishReasons !== undefined && { finishReasons }),
    };
    const process = createToolUseProcess<ToolUseState, Context & ContextNeeded<Given>>(setup, rules);
    this.fingerprint = fingerprintOf(setup, rules);
    this.toolNames = setup.toolNames;
    this.needsContext = setup.needsContext;
    this.checkArgs = (toolName, args) => argsProblem(setup.tools, toolName, args);
    // Holds: a bus of wider events takes these, and its listeners hear them.
    const events = (options.events as EventBus<ToolEvent<Given>> | undefined) ?? createEventBus<ToolEvent<Given>>(ports?.onProblem);
    this.onEvent = events.on;
    this.wiretap = events.wiretap;
    // Holds: the loop and this room tell no other events than these.
    this.#runnable = createStepByStep(process, { ...ports, events: events });
  }

  hasNextStep(state: ToolUseState): boolean {
    return this.#runnable.hasNextStep(state);
  }
  nextStep(state: ToolUseState, ...args: RunArgs<ToolUseState, Context & ContextNeeded<Given>, ToolEvent<Given>>): Promise<ToolUseState> {
    return this.#runnable.nextStep(state, ...args);
  }
  run(state: ToolUseState, ...args: RunArgs<ToolUseState, Context & ContextNeeded<Given>, ToolEvent<Given>>): Promise<ToolUseState> {
    return this.#runnable.run(state, ...args);
  }
  iterate(
    state: ToolUseState,
    ...args: RunArgs<ToolUseState, Context & ContextNeeded<Given>, ToolEvent<Given>>
  ): AsyncGenerator<ToolUseState, void, undefined> {
    return this.#runnable.iterate(state, ...args);
  }
  stream(
    state: ToolUseState,
    ...args: RunArgs<ToolUseState, Context & ContextNeeded<Given>, ToolEvent<Given>>
  ): Run<ToolUseState, ToolEvent<Given>> {
    return this.#runnable.stream(state, ...args);
  }
}
