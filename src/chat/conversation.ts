// What chats and collaborations have in common: participants, a selector, rules, and the loop around them.
// Owns:     configuration only. States come in and go out; one serves any number of them side by side.
import type { ContinuationCriterion } from '../continuation/index.ts';
import type { ErrorPolicy } from '../errors/index.ts';
import type { BaseEvent, EventBus } from '../events/index.ts';
import type { PriceSource } from '../inference/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { Limits, Orchestrator, Ports, StateType } from '../step-by-step/index.ts';
import { createOrchestrator } from '../step-by-step/index.ts';
import { hashConfiguration } from '../tool-use/index.ts';
import type { ChatEvent } from './chat-events.ts';
import type { ChatStep } from './chat-step.ts';
import { toCriteria } from './conversation-criteria.ts';
import { ConversationFailedError } from './conversation-failed-error.ts';
import type { Participant, ParticipantInfo, JoinedParticipant } from './participant.ts';
import { toParticipantInfo } from './participant.ts';
import { roundRobin } from './selectors/round-robin.ts';
import type { SelectFunction } from './selectors/select-by.ts';
import { selectBy } from './selectors/select-by.ts';
import type { Selector } from './selectors/selector.ts';
import { createTurnProcess } from './turn-process.ts';
import type { TurnExtension } from './turn-setup.ts';
import type { TurnState } from './turn-state.ts';

type Taking<Given> = Given extends Participant<infer Context> ? (context: Context) => void : never;

/** Context that the participants need, all of them together. */
export type ContextOfParticipants<Given extends readonly Participant<never>[]> = [Taking<Given[number]>] extends [
  (context: infer Context) => void,
]
  ? Context
  : unknown;

/** Options of every conversation, besides its participants. */
export interface ConversationOptions<State extends TurnState, Context = unknown, Event extends BaseEvent = ChatEvent> {
  /** Stored with each execution, to tell releases apart. */
  readonly version?: string;
  /** Selector of the next turn, or a function that names a participant. @default roundRobin() */
  readonly selector?: Selector | SelectFunction<Context, State>;
  /** Budgets of one execution, and what happens when one is used up. @default 16 steps and 500,000 tokens, and no limit of time */
  readonly limits?: Limits;
  /** Handling of failed turns. @default ErrorPolicy.stopOnAnyError() */
  readonly errors?: ErrorPolicy;
  /** Finish reasons of a model that end the conversation. @default ['length', 'content_filter'] */
  readonly finishReasons?: readonly string[];
  /** Criteria of your own, added after the default ones. A name that is taken gets a number: `StepsLimit#2`. */
  readonly criteria?: readonly ContinuationCriterion<State>[];
  /** Criteria of your own in place of all default ones. Of `limits`, `errors` and `finishReasons` only what you give applies. */
  readonly onlyCriteria?: readonly ContinuationCriterion<State>[];
  /** Prices of usage; also for models among the participants that have no prices of their own. */
  readonly price?: PriceSource;
  /** Tells models, after their instructions, under which name they speak and with whom. @default true */
  readonly introduce?: boolean;
  /** Rejects a run that failed with ConversationFailedError, which has the state; not in sessions, which keep it. @default false */
  readonly throwOnFailure?: boolean;
  /** Bus for its events; one bus may serve several. @default a bus of its own */
  readonly events?: EventBus<Event>;
  /** Sources of time, ids and randomness, and the reporter of problems. */
  readonly ports?: Omit<Ports, 'events'>;
}

/** Description of a conversation. Plain data. */
export interface ConversationDescription {
  readonly id: string;
  readonly version?: string;
  readonly fingerprint: string;
  readonly participants: readonly ParticipantInfo[];
  readonly selector: string;
  /** In the order in which they are asked. */
  readonly criteria: readonly string[];
  /** Error policy; absent if criteria of the host judge failures. */
  readonly errors?: Readonly<Record<string, unknown>>;
}

/** A conversation between participants: the common base of chats and collaborations. */
export interface Conversation<State extends TurnState, Context, Event extends BaseEvent = ChatEvent> extends Orchestrator<
  State,
  undefined,
  Context,
  Event
> {
  readonly participants: readonly ParticipantInfo[];
  /** Describes the participants, the selector and the rules as plain data. */
  describe(): ConversationDescription;
}

/** The parts of one kind of conversation. */
export interface ConversationKind<State extends TurnState<S>, S extends ChatStep> {
  /** Name in events: `chat`, `collaboration`. */
  readonly name: string;
  readonly id: string;
  readonly participants: readonly Participant<never>[];
  readonly states: StateType<State>;
  readonly extension: TurnExtension<State, S>;
  /** Requests another turn while something is left to do. */
  readonly driver: (names: readonly string[]) => ContinuationCriterion<State> & { isOpen(state: State): boolean };
  /** Parts of the fingerprint besides the common ones. */
  readonly configuration?: JsonObject;
}

/** Finds the participant whose call it is, by the path of names that waits have as `agent`. */
async function checkArgs(
  joined: readonly JoinedParticipant[],
  ...[toolName, args, agent]: Parameters<Orchestrator['checkArgs']>
): ReturnType<Orchestrator['checkArgs']> {
  if (agent !== undefined) {
    const [name = '', ...inside] = agent.split('/');
    const asker = joined.find((each) => each.name === name);
    if (asker === undefined) return `There is no participant named "${name}".`;
    return asker.checkArgs?.(toolName, args, inside.length === 0 ? undefined : inside.join('/'));
  }
  const [owner, ...others] = joined.filter(({ toolNames }) => toolNames?.includes(toolName) === true);
  // If several have a tool of this name, whose call it is shows only when it runs: what does not fit waits again then.
  return others.length > 0 ? undefined : owner?.checkArgs?.(toolName, args);
}

/** Creates a conversation of this kind. */
export function createConversation<State extends TurnState<S>, S extends ChatStep, Context, Event extends BaseEvent = ChatEvent>(
  options: ConversationOptions<State, Context, Event>,
  { name, id, states, extension, configuration, ...kind }: ConversationKind<State, S>,
): Conversation<State, Context, Event> {
  const { version, limits, price, introduce = true, throwOnFailure = false, events, ports = {} } = options;
  const participants = kind.participants.map(toParticipantInfo);
  const watchesCost = price !== undefined || limits?.costUsd !== undefined;
  const sample = (participant: string) => extension.equip?.(states.empty(), participant).capability;
  const info = { participants, ports, price, watchesCost, introduces: introduce, sample };
  const joined = kind.participants.map((each) => each.join(info));
  const given = options.selector ?? roundRobin();
  const selector = typeof given === 'function' ? selectBy(given) : given;
  const driver = kind.driver(participants.map((each) => each.name));
  const criteria = toCriteria(options, driver);
  const errors = criteria.errorPolicy?.toJSON();
  const fingerprint = hashConfiguration({
    kind: name,
    participants: joined.map((each) => each.configuration),
    selector: { name: selector.name, ...selector.configuration },
    criteria: criteria.names,
    limits: Object.fromEntries(Object.entries(limits ?? {}).map(([key, limit]) => [key, String(limit)])),
    policy: errors,
    finishReasons: options.finishReasons,
    introduce,
    ...configuration,
  });
  const identity = omitUndefined({ id, version, fingerprint });
  const process = createTurnProcess<State, S, Context>({
    name,
    joined,
    selector,
    criteria,
    pricing: { price, watchesCost },
    extension,
    identity,
    workLeft: (state) => driver.isOpen(state),
  });
  const orchestrator = createOrchestrator<State, Context, Event>(process, {
    ...ports,
    ...identity,
    states,
    events,
    needsContext: joined.some((each) => each.needsContext),
    checkArgs: (...args) => checkArgs(joined, ...args),
    toError: throwOnFailure ? (state) => new ConversationFailedError(state) : undefined,
  });
  return {
    ...orchestrator,
    participants,
    describe: () => omitUndefined({ ...identity, participants, selector: selector.name, criteria: criteria.names, errors }),
  };
}
