import type { ErrorPolicy } from '../errors/index.ts';
import type { EventBus } from '../events/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { Orchestrator, StateType } from '../step-by-step/index.ts';
import { createOrchestrator } from '../step-by-step/index.ts';
import type { Tools } from '../tools/index.ts';
import { argsProblem } from './args-problem.ts';
import { computeFingerprint } from './fingerprint.ts';
import type { AnyToolUseOptions, ToolUseLimits } from './options.ts';
import type { Rules } from './process.ts';
import { createToolUseProcess } from './process.ts';
import { readOutput } from './read-output.ts';
import type { Setup } from './setup.ts';
import { checkOptions, toSetup, withDefaultLimits } from './setup.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { ToolEvent } from './typed-events.ts';

/** An orchestrator of a model with tools. */
export interface ToolUseOrchestrator<
  State extends ToolUseState = ToolUseState,
  Given extends Tools = Tools,
  Output = unknown,
  Context = unknown,
> extends Orchestrator<State, Output, Context, ToolEvent<Given>> {
  readonly toolNames: readonly string[];
}

interface Kind<State extends ToolUseState> {
  /** Name in events. */
  readonly name: string;
  readonly states: StateType<State>;
  readonly limits: ToolUseLimits;
  readonly policy: () => ErrorPolicy;
  /** Stored with each execution, together with the fingerprint. */
  readonly identity?: { readonly id: string; readonly version?: string };
}

interface ToolUseParts<State extends ToolUseState> {
  readonly orchestrator: ToolUseOrchestrator<State>;
  readonly setup: Setup<unknown>;
  readonly rules: Rules<State>;
  /** Names of all criteria, in their order. */
  readonly criteria: readonly string[];
}

/** Creates an orchestrator of a model with tools. */
export function createToolUse<State extends ToolUseState>(
  options: AnyToolUseOptions<State>,
  { name, states, limits, policy, identity }: Kind<State>,
): ToolUseParts<State> {
  checkOptions(options, identity === undefined ? [] : ['id', 'version']);
  const setup = toSetup(name, options);
  const rules: Rules<State> = omitUndefined({
    limits: withDefaultLimits(limits, options.limits),
    policy: options.errors ?? policy(),
    criteria: setup.criteria,
    finishReasons: options.finishReasons,
  });
  const fingerprint = computeFingerprint(setup, rules);
  const process = createToolUseProcess<State, unknown>(setup, rules, identity && { ...identity, fingerprint });
  const orchestrator = createOrchestrator<State, unknown, ToolEvent, unknown>(process, {
    ...options.ports,
    ...identity,
    states,
    fingerprint,
    // Holds: a bus of wider events takes these, and its listeners get them.
    events: options.events as EventBus<ToolEvent> | undefined,
    needsContext: setup.needsContext,
    readOutput: (state) => readOutput(state, setup.output),
    checkArgs: async (toolName, args, agent) => (agent === undefined ? argsProblem(setup.tools, toolName, args) : undefined),
  });
  return { orchestrator: { ...orchestrator, toolNames: setup.toolNames }, setup, rules, criteria: process.criteria.names };
}
