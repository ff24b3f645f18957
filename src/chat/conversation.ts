// What chats and collaborations have in common: participants, a selector, rules, and the loop around them.
// Owns:     configuration only. States come in and go out; one serves any number of them side by side.
import type { ContinuationCriterion } from '../continuation/index.ts';
import type { ErrorPolicy } from '../errors/index.ts';
import type { BaseEvent, EventBus, EventSink } from '../events/index.ts';
import { createEventBus, reportToConsole } from '../events/index.ts';
import type { Capability } from '../hooks/index.ts';
import type { PriceOf } from '../inference/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { InvalidArgumentError, systemIds } from '../lib/index.ts';
import type { Message, MessageContent } from '../messages/index.ts';
import { isMessageContent } from '../messages/index.ts';
import type { Limits, NewStateOptions, Ports, RunArgs, Runnable, StateCodec } from '../step-by-step/index.ts';
import { createStepByStep, settledAs } from '../step-by-step/index.ts';
import { fingerprintOfParts } from '../tool-use/index.ts';
import type { ChatEvent } from './chat-events.ts';
import type { ChatStep } from './chat-step.ts';
import { criteriaOf } from './conversation-criteria.ts';
import type { ConversationResult } from './conversation-result.ts';
import { toResult } from './conversation-result.ts';
import { ConversationFailedError } from './conversation-failed-error.ts';
import type { Participant, ParticipantInfo, Seat } from './participant.ts';
import { infoOf } from './participant.ts';
import { roundRobin } from './selectors/round-robin.ts';
import type { SelectFunction } from './selectors/select-by.ts';
import { selectBy } from './selectors/select-by.ts';
import type { Selector } from './selectors/selector.ts';
import { createTurnProcess } from './turn-process.ts';
import type { TurnExtension } from './turn-setup.ts';
import type { TurnState } from './turn-state.ts';

type Taking<Given> = Given extends Participant<infer Context> ? (context: Context) => void : never;

/** What the participants need of the host, all of them together. */
export type ContextOfParticipants<Given extends readonly Participant<never>[]> = [Taking<Given[number]>] extends [
  (context: infer Context) => void,
]
  ? Context
  : unknown;

/** What every conversation between participants is made from, beside those. */
export interface ConversationOptions<State extends TurnState, Context = unknown, Event extends BaseEvent = ChatEvent> {
  /** Kept with each execution, so that one can tell which release did what. */
  readonly version?: string;
  /** Who has the next turn: a selector, or a function that names a participant. @default roundRobin() */
  readonly selector?: Selector | SelectFunction<Context, State>;
  /** @default 16 steps and 4,096 tokens, and no limit of time */
  readonly limits?: Limits;
  /** What happens after a failed turn. @default ErrorPolicy.stopOnAnyError() */
  readonly errors?: ErrorPolicy;
  /** Finish reasons of a model that end the conversation. @default ['length', 'content_filter'] */
  readonly finishReasons?: readonly string[];
  /** Rules of your own in the place of all the default ones; limits, errors and finishReasons stay where you give them as well. */
  readonly criteria?: readonly ContinuationCriterion<State>[];
  /** What usage costs; also for models among the participants that have no prices of their own. */
  readonly price?: PriceOf;
  /** Whether models are told, behind their instructions, under which name they speak and with whom. @default true */
  readonly introduce?: boolean;
  /** Rejects a run that failed with ConversationFailedError, which has the state; not in sessions, which keep it. @default false */
  readonly throwOnFailure?: boolean;
  /** Where its events go; one bus may serve several. @default a bus of its own */
  readonly events?: EventBus<Event>;
  /** Where time, ids and chance come from, and who hears of problems. */
  readonly ports?: Omit<Ports, 'events'>;
}

/** How conversations begin, and how they are stored. */
export interface ConversationStates<State> extends StateCodec<State> {
  empty(options?: NewStateOptions): State;
}

/** What a conversation is made of. Plain data. */
export interface ConversationDescription {
  readonly id: string;
  readonly version?: string;
  readonly fingerprint: string;
  readonly participants: readonly ParticipantInfo[];
  readonly selector: string;
  /** In the order in which they are asked. */
  readonly criteria: readonly string[];
  /** How failures are handled; absent where rules of the host's own judge them. */
  readonly errors?: JsonObject;
}

/** What a run is started with: words from outside, or a state to go on with. */
export type ConversationInput<State> = MessageContent | Message | State;

/** A run that is under way. Iterate it for its events; leaving the loop detaches and stops nothing. */
export interface ConversationRun<Result, Event extends BaseEvent = ChatEvent> extends AsyncIterable<Event> {
  /** How it ended. Settles without a reader. */
  readonly result: Promise<Result>;
  /** Ends the run at the next boundary; the turn under way is finished first. */
  requestStop(reason?: string): void;
}

/** A conversation between participants, ready to be run. Stateless and reusable: one may carry on any number of states side by side. */
export interface Conversation<
  State extends TurnState,
  Context,
  Result = ConversationResult<State>,
  Event extends BaseEvent = ChatEvent,
> extends Runnable<State, Context, Event> {
  readonly id: string;
  readonly version: string | undefined;
  /** The same for two with the same participants, selector and rules. Each execution keeps it. */
  readonly fingerprint: string;
  readonly participants: readonly ParticipantInfo[];
  /** Begins at once: with words from outside, or with a state. */
  start(input: ConversationInput<State>, ...args: RunArgs<State, Context, Event>): ConversationRun<Result, Event>;
  /** Reads a stored state. */
  restore(stored: unknown): State;
  readonly states: ConversationStates<State>;
  /**
   * What is wrong with the arguments for a tool of one of the participants; undefined where they fit, or nobody has such a tool.
   * `agent` says whose call it is, as waits do.
   */
  checkArgs(toolName: string, args: unknown, agent?: string): Promise<string | undefined>;
  describe(): ConversationDescription;
  /** Hears one kind of event of every run; returns its unsubscribe. */
  readonly onEvent: EventBus<Event>['on'];
  /** Hears every event of every run; returns its unsubscribe. */
  readonly wiretap: EventBus<Event>['wiretap'];
}

/** What one kind of conversation adds to what all have. */
export interface ConversationKind<State extends TurnState<S>, S extends ChatStep, Result> {
  /** As events name it: `chat`, `collaboration`. */
  readonly name: string;
  readonly id: string;
  readonly participants: readonly Participant<never>[];
  readonly states: ConversationStates<State>;
  readonly owns: (state: unknown) => boolean;
  readonly extension: TurnExtension<State, S>;
  /** Requests another turn while something is left to do. */
  readonly driver: (names: readonly string[]) => ContinuationCriterion<State> & { isOpen(state: State): boolean };
  readonly toResult: (result: ConversationResult<State>) => Result;
  /** What else tells two of them apart. */
  readonly configuration: JsonObject;
}

interface Edited {
  readonly toolName: string;
  readonly args: unknown;
  /** Whose call it is: a participant, and, behind it, the names of runs inside its turn. */
  readonly agent: string | undefined;
}

async function argsProblem(seats: readonly Seat[], { toolName, args, agent }: Edited): Promise<string | undefined> {
  if (agent !== undefined) {
    const [name, ...inside] = agent.split('/');
    return seats.find((seat) => seat.name === name)?.checkArgs?.(toolName, args, inside.length === 0 ? undefined : inside.join('/'));
  }
  const [owner, ...others] = seats.filter(({ toolNames }) => toolNames?.includes(toolName) === true);
  // Where several have a tool of this name, whose call it is shows only when it runs: what does not fit waits again then.
  return others.length > 0 ? undefined : owner?.checkArgs?.(toolName, args);
}

/** Makes a conversation of this kind. */
export function createConversation<State extends TurnState<S>, S extends ChatStep, Context, Result, Event extends BaseEvent = ChatEvent>(
  options: ConversationOptions<State, Context, Event>,
  kind: ConversationKind<State, S, Result>,
): Conversation<State, Context, Result, Event> {
  const { version, limits, price, introduce = true, throwOnFailure = false, ports = {} } = options;
  const { name, id, states } = kind;
  const participants = kind.participants.map(infoOf);
  const watchesCost = price !== undefined || limits?.costUsd !== undefined;
  const { extension } = kind;
  const sample = (participant: string): Capability | undefined => extension.equip?.(states.empty(), participant).capability;
  const table = { participants, ports, price, watchesCost, introduces: introduce, sample };
  const seats = kind.participants.map((each) => each.join(table));
  const given = options.selector ?? roundRobin();
  const selector = typeof given === 'function' ? selectBy(given) : given;
  const driver = kind.driver(participants.map((each) => each.name));
  const criteria = criteriaOf(options, driver);
  const policy = criteria.errorPolicy?.toJSON() as JsonObject | undefined;
  const fingerprint = fingerprintOfParts({
    kind: name,
    participants: seats.map(({ configuration }) => configuration),
    selector: { name: selector.name, ...selector.configuration },
    criteria: criteria.names,
    limits: Object.fromEntries(Object.entries(limits ?? {}).map(([key, limit]) => [key, String(limit)])),
    policy,
    finishReasons: options.finishReasons,
    introduce,
    ...kind.configuration,
  });
  const identity = { id, ...(version !== undefined && { version }), fingerprint };
  const process = createTurnProcess<State, S, Context>({
    name,
    seats,
    selector,
    criteria,
    pricing: { price, watchesCost },
    extension: kind.extension,
    identity,
    workLeft: (state) => driver.isOpen(state),
    onProblem: ports.onProblem ?? reportToConsole,
  });
  const events = options.events ?? createEventBus<Event>(ports.onProblem);
  // Holds: the loop and the rooms below tell no other events than these.
  const sink = events as EventBus<never> as EventSink;
  const runnable = createStepByStep<State, Context, Event>(process, { ...ports, events: sink });
  const checked = (state: State): State => {
    if (throwOnFailure && state.status === 'failed') throw new ConversationFailedError(state);
    return state;
  };
  const own = (state: State): State => {
    if (kind.owns(state)) return state;
    throw new InvalidArgumentError(
      `This is no state of a ${name}. Make one with states.empty().withUserMessage(…), or read stored data with restore().`,
    );
  };
  const stateOf = (input: ConversationInput<State>): State => {
    const { clock, ids = systemIds } = ports;
    if (isMessageContent(input)) return states.empty({ ids, ...(clock !== undefined && { clock }) }).withUserMessage(input, { ids });
    return own(input);
  };

  return {
    ...runnable,
    hasNextStep: (state) => runnable.hasNextStep(own(state)),
    nextStep: async (state, ...args) => runnable.nextStep(own(state), ...args),
    iterate: (state, ...args) => runnable.iterate(own(state), ...args),
    stream: (state, ...args) => runnable.stream(own(state), ...args),
    run: async (state, ...args) => {
      const end = await runnable.run(own(state), ...args);
      // Whoever keeps what happens, as sessions do, reads the failure there.
      return args[0]?.commit === undefined ? checked(end) : end;
    },
    id,
    version,
    fingerprint,
    participants,
    onEvent: events.on,
    wiretap: events.wiretap,
    restore: (stored) => states.decode(stored),
    states,
    checkArgs: (toolName, args, agent) => argsProblem(seats, { toolName, args, agent }),
    describe: () => ({
      ...identity,
      participants,
      selector: selector.name,
      criteria: criteria.names,
      ...(policy !== undefined && { errors: policy }),
    }),
    start: (input, ...args) => settledAs(runnable.stream(stateOf(input), ...args), (state) => kind.toResult(toResult(checked(state)))),
  };
}
