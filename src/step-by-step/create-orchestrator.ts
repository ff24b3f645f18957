import type { BaseEvent, EventBus } from '../events/index.ts';
import { createEventBus } from '../events/index.ts';
import { describeValue, InvalidArgumentError, omitUndefined, systemIds } from '../lib/index.ts';
import type { Message, MessageContent } from '../messages/index.ts';
import { isMessageContent } from '../messages/index.ts';
import type { LoopEvent } from './loop-events.ts';
import type { Orchestrator, StateType } from './orchestrator.ts';
import type { EngineOptions } from './run-options.ts';
import type { RunState } from './run-state.ts';
import type { StepByStepOptions } from './step-by-step.ts';
import { createStepByStep } from './step-by-step.ts';
import type { StepProcess } from './step-process.ts';

/** Parts of an orchestrator besides its process. */
export interface OrchestratorOptions<State extends RunState, Output, Event extends BaseEvent> extends Omit<
  StepByStepOptions<State, Output>,
  'events' | 'assertState'
> {
  readonly states: StateType<State>;
  /** Name in stored records. @default the name of the process */
  readonly id?: string;
  readonly version?: string | undefined;
  /** Changes with the configuration. @default the id */
  readonly fingerprint?: string;
  /** @default false */
  readonly needsContext?: boolean;
  /** @default all arguments are valid */
  readonly checkArgs?: Orchestrator['checkArgs'];
  /** Receives all events. @default a bus of its own */
  readonly events?: EventBus<Event> | undefined;
}

/** Creates an orchestrator: the loop of a process, with an identity and a kind of state. */
export function createOrchestrator<State extends RunState, Context = unknown, Event extends BaseEvent = LoopEvent, Output = undefined>(
  process: StepProcess<State, Context>,
  options: OrchestratorOptions<State, Output, Event>,
): Orchestrator<State, Output, Context, Event> {
  const {
    states,
    id = process.name,
    version,
    fingerprint = id,
    needsContext = false,
    checkArgs = async () => undefined,
    ...rest
  } = options;
  const events = options.events ?? createEventBus<Event>(rest.onProblem);
  const { name } = process;
  const assertState = (value: unknown): void => {
    if (!states.is(value))
      throw new InvalidArgumentError(
        `Expected a state of kind "${states.kind}", not ${describeValue(value)}. Use ${name}.start() for a message, ${name}.states.empty() for a new state, or ${name}.restore() for stored data.`,
      );
  };
  const loop = createStepByStep<State, Context, Event, Output>(process, { ...rest, events, assertState });
  const toState = (input: MessageContent | Message | State, run: Pick<EngineOptions, 'clock' | 'ids'> = {}): State => {
    const { clock = rest.clock, ids = rest.ids ?? systemIds } = run;
    if (isMessageContent(input)) return states.empty(omitUndefined({ clock, ids })).withUserMessage(input, { ids });
    if (states.is(input)) return input;
    throw new InvalidArgumentError(
      `start() needs a string, a message, a list of parts, or a state of kind "${states.kind}", not ${describeValue(input)}. Read stored data with ${name}.restore() first.`,
    );
  };
  return {
    ...loop,
    id,
    version,
    fingerprint,
    needsContext,
    states,
    start: (input, ...args) => loop.start(toState(input, args[0]), ...args),
    restore: (stored) => states.decode(stored),
    checkArgs,
    onEvent: events.on,
    wiretap: events.wiretap,
  };
}
