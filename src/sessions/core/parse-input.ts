// Checks of what callers pass to a session runtime.
import { StopReason } from '../../continuation/index.ts';
import type { IdSource } from '../../lib/index.ts';
import { checkKeys, cleanText, describeValue, InvalidArgumentError, isRecord, omitUndefined } from '../../lib/index.ts';
import type { Message, MessageContent } from '../../messages/index.ts';
import { toUserMessage } from '../../messages/index.ts';
import { ExecutionStatus } from '../../step-by-step/index.ts';
import type { ActionOptions, ForkPoint } from './action.ts';
import type { FeedOptions } from './feed.ts';
import { ForeignApprovalError } from './errors.ts';
import type { AnsweredWait, EventsOptions, NewSession, OpenStepOptions, SendOptions } from './session-runtime.ts';
import type { SessionFacts } from './session.ts';
import type { SessionQuery } from '../store/session-store.ts';

const knownFilters = [
  'tenant',
  'agentName',
  'owner',
  'status',
  'stopReason',
  'tag',
  'isOpen',
  'wakeBefore',
  'updatedBefore',
  'limit',
  'cursor',
];

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;

function assert(isValid: boolean, message: string): asserts isValid {
  if (!isValid) throw new InvalidArgumentError(message);
}

const describeBy = (by: unknown): string =>
  isRecord(by) ? `{ id: ${describeValue(by['id'])}, kind: ${describeValue(by['kind'])} }` : describeValue(by);

/** Checks the author and the request id of an action. Returns a copy: later changes of the original do not count. */
export function parseActionOptions(options: ActionOptions, method = 'action', more: readonly string[] = []): ActionOptions {
  const given: { readonly [Key in keyof ActionOptions]?: unknown } = isRecord(options) ? options : {};
  checkKeys(`${method}()`, given, ['by', 'requestId', 'until', ...more]);
  const { by, requestId, until } = given;
  const { id, kind } = isRecord(by) ? by : {};
  assert(
    isText(id) && isText(kind),
    `${method}() needs the author of the action as by: { id, kind }, not ${describeBy(by)}. Pass { by: { id: "ann", kind: "user" } }, for example.`,
  );
  assert(
    kind.trim().toLowerCase() !== 'system',
    `by.kind ${describeValue(kind)} is reserved for actions of the runtime itself. Use another word, such as "service".`,
  );
  const request = requestId === undefined ? undefined : parseText(requestId, 'requestId');
  if (until !== undefined && until !== 'rest' && until !== 'accepted')
    throw new InvalidArgumentError(`until must be "rest" or "accepted", not ${describeValue(until)}.`);
  return {
    by: { id: cleanText(id), kind: cleanText(kind) },
    ...omitUndefined({ requestId: request }),
    ...(until !== undefined && { until }),
  };
}

/** Checks a number of milliseconds that a timer can wait for. */
export function parseMs(value: unknown, what: string): number {
  assert(isAmount(value), `${what} must be a number of 0 or more, not ${describeValue(value)}.`);
  return value;
}

function parseOneOf<Value extends string>(value: unknown, what: string, known: readonly Value[]): Value | undefined {
  const found = known.find((each) => each === value);
  assert(value === undefined || found !== undefined, `Unknown ${what} ${describeValue(value)}. Use one of ${known.join(', ')}.`);
  return found;
}

/** The method that a filter is passed to, and the filters that it takes. */
interface QueryRules {
  readonly method?: string;
  readonly known?: readonly string[];
}

const parseTime = (value: unknown): number | undefined => (isTime(value) ? value : undefined);

/** Refuses a filter that would silently match everything, or nothing. */
export function parseQuery(query: SessionQuery, { method = 'list', known = knownFilters }: QueryRules = {}): SessionQuery {
  const given: unknown = query;
  assert(isRecord(given), `${method}() needs an object of filters, such as { tenant: "acme" }, not ${describeValue(given)}.`);
  checkKeys(`${method}()`, given, known);
  const parseFilter = (name: keyof SessionQuery): string | undefined =>
    given[name] === undefined ? undefined : parseText(given[name], `${method}(): ${name}`);
  const { isOpen, wakeBefore, updatedBefore, limit } = given;
  assert(isOpen === undefined || typeof isOpen === 'boolean', `${method}(): isOpen must be true or false, not ${describeValue(isOpen)}.`);
  for (const [name, time] of Object.entries({ wakeBefore, updatedBefore }))
    assert(
      time === undefined || isTime(time),
      `${method}(): ${name} must be a time in milliseconds since 1970, not ${describeValue(time)}.`,
    );
  assert(
    limit === undefined || typeof limit === 'number',
    `${method}(): limit must be a whole number of 1 or more, not ${describeValue(limit)}.`,
  );
  return omitUndefined({
    tenant: parseFilter('tenant'),
    agentName: parseFilter('agentName'),
    owner: parseFilter('owner'),
    tag: parseFilter('tag'),
    cursor: parseFilter('cursor'),
    status: parseOneOf(given['status'], 'status', Object.values(ExecutionStatus)),
    stopReason: parseOneOf(given['stopReason'], 'stop reason', Object.values(StopReason)),
    isOpen,
    wakeBefore: parseTime(wakeBefore),
    updatedBefore: parseTime(updatedBefore),
    limit,
  });
}

/** Options for reading events, checked. */
export type ParsedEventsOptions = EventsOptions & Required<Pick<EventsOptions, 'fromSeq' | 'follow' | 'redact'>>;

/** Checks the options of events(). */
export function parseEventsOptions(options: EventsOptions): ParsedEventsOptions {
  const given: unknown = options;
  const hint = typeof given === 'number' ? ` Use { fromSeq: ${given} }.` : '';
  assert(isRecord(given), `The options of events() must be an object, not ${describeValue(given)}.${hint}`);
  checkKeys('events()', given, ['fromSeq', 'follow', 'redact', 'signal']);
  const { fromSeq = 0, follow = false, redact = false, signal } = given;
  assert(
    isAmount(fromSeq) && Number.isSafeInteger(fromSeq),
    `events(): fromSeq must be the number of an event, or 0 to read all, not ${describeValue(fromSeq)}.`,
  );
  for (const [name, value] of Object.entries({ follow, redact }))
    assert(typeof value === 'boolean', `events(): ${name} must be true or false, not ${describeValue(value)}.`);
  assert(signal === undefined || signal instanceof AbortSignal, `events(): signal must be an AbortSignal, not ${describeValue(signal)}.`);
  return { fromSeq, follow: follow === true, redact: redact === true, ...omitUndefined({ signal }) };
}

/** Options for reading the feed, checked. */
export type ParsedFeedOptions = FeedOptions & Required<Pick<FeedOptions, 'follow' | 'redact'>>;

/** Checks the options of feed(), or those of another method that are the same. */
export function parseFeedOptions(options: FeedOptions, method = 'feed', more: readonly string[] = []): ParsedFeedOptions {
  const given: unknown = options;
  assert(isRecord(given), `The options of ${method}() must be an object, not ${describeValue(given)}.`);
  checkKeys(`${method}()`, given, ['after', 'tenant', 'types', 'follow', 'redact', 'signal', ...more]);
  const { after, tenant, types, follow = false, redact = false, signal } = given;
  assert(
    types === undefined || (Array.isArray(types) && types.length > 0 && types.every(isText)),
    `${method}(): types must be a list of event types, such as ["ToolApprovalRequested"], not ${describeValue(types)}.`,
  );
  for (const [name, value] of Object.entries({ follow, redact }))
    assert(typeof value === 'boolean', `${method}(): ${name} must be true or false, not ${describeValue(value)}.`);
  assert(
    signal === undefined || signal instanceof AbortSignal,
    `${method}(): signal must be an AbortSignal, not ${describeValue(signal)}.`,
  );
  return {
    follow: follow === true,
    redact: redact === true,
    ...omitUndefined({
      after: after === undefined ? undefined : parseText(after, `${method}(): after`),
      tenant: tenant === undefined ? undefined : parseText(tenant, `${method}(): tenant`),
      types: types && [...types].map(String),
      signal,
    }),
  };
}

/** Checks the options of openStep(). */
export function parseOpenStepOptions(options: OpenStepOptions): OpenStepOptions {
  const given: unknown = options;
  assert(isRecord(given), `The options of openStep() must be an object, not ${describeValue(given)}.`);
  checkKeys('openStep()', given, ['follow', 'redact', 'signal']);
  const { follow = false, redact = false, signal } = given;
  for (const [name, value] of Object.entries({ follow, redact }))
    assert(typeof value === 'boolean', `openStep(): ${name} must be true or false, not ${describeValue(value)}.`);
  assert(signal === undefined || signal instanceof AbortSignal, `openStep(): signal must be an AbortSignal, not ${describeValue(signal)}.`);
  return { follow: follow === true, redact: redact === true, ...omitUndefined({ signal }) };
}

/** Checks the step that a fork starts after. */
export function parseForkPoint(at: unknown): Omit<ForkPoint, 'sessionId'> {
  const { execution, step } = isRecord(at) ? at : {};
  if (typeof execution === 'number' && typeof step === 'number') return { execution, step };
  throw new InvalidArgumentError(`fork() needs { execution, step } as its second argument, both numbers, not ${describeValue(at)}.`);
}

/** Refuses anything but text, and empty text. Characters that cannot be stored are replaced, in what is stored and in what is asked for. */
export function parseText(value: unknown, what: string): string {
  assert(isText(value), `${what} must be a non-empty string, not ${describeValue(value)}.`);
  return cleanText(value);
}

/** Creates a message from user input. */
export function parseMessage(content: MessageContent | Message, ids: IdSource): Message {
  const message = toUserMessage(content, { ids, caller: 'send()' });
  assert(!message.isEmpty, 'The content of send() is empty. Send at least one character or part.');
  return message;
}

/** Checks the scope of an approval. */
export function parseScope({ scope, args }: { readonly scope?: unknown; readonly args?: unknown }): { readonly scope?: 'session' } {
  const found = parseOneOf(scope, 'scope of approve()', ['session'] as const);
  assert(
    found === undefined || args === undefined,
    'approve() takes either scope or args: an approval for the rest of the session covers the arguments that were shown.',
  );
  return omitUndefined({ scope: found });
}

/** Checks what a message does to an execution in progress. */
export const parseSendRules = ({ whileRunning, whileWaiting }: SendOptions): Pick<SendOptions, 'whileRunning' | 'whileWaiting'> =>
  omitUndefined({
    whileRunning: parseOneOf(whileRunning, 'whileRunning of send()', ['join', 'queue', 'interrupt'] as const),
    whileWaiting: parseOneOf(whileWaiting, 'whileWaiting of send()', ['supersede', 'queue', 'refuse'] as const),
  });

/** Checks that a new session is described by an object. */
export function parseNewSession(session: NewSession): NewSession {
  const given: unknown = session;
  assert(
    isRecord(given),
    `create() needs an object as its first argument, not ${describeValue(given)}. Pass {} if there is nothing to set.`,
  );
  checkKeys('create()', given, ['agent', 'id', 'tenant', 'owner', 'tags']);
  return session;
}

type Wishes = { readonly [Key in 'id' | 'tenant' | 'owner' | 'tags']?: NewSession[Key] | undefined };

/** Checks the fields that a session is found by. */
export function parseFacts({ id, tenant, owner, tags = [] }: Wishes): Pick<SessionFacts, 'id' | 'tenant' | 'owner' | 'tags'> {
  assert(Array.isArray(tags), `tags must be a list of strings, not ${describeValue(tags)}.`);
  return {
    id: parseText(id, 'The id of a session'),
    tags: [...new Set(tags.map((tag: unknown) => parseText(tag, 'A tag')))],
    ...(tenant !== undefined && { tenant: parseText(tenant, 'A tenant') }),
    ...(owner !== undefined && { owner: parseText(owner, 'An owner') }),
  };
}

/** Checks the wait that is answered, and that it was shown in this session. */
export function parseWait(sessionId: string, wait: AnsweredWait): { readonly waitId: string; readonly digest?: string } {
  const given: unknown = wait;
  assert(
    isRecord(given) && typeof given['id'] === 'string',
    `Expected a wait from session.waitingFor, not ${describeValue(given)}. Pass the wait itself: it has an id and a digest.`,
  );
  const { digest } = given;
  assert(
    digest === undefined || typeof digest === 'string',
    `The digest of a wait must be a string, not ${describeValue(digest)}. Pass the wait from session.waitingFor unchanged.`,
  );
  if (wait.sessionId !== undefined && wait.sessionId !== sessionId)
    throw new ForeignApprovalError(wait.id, { own: sessionId, given: wait.sessionId });
  return { waitId: cleanText(given['id']), ...omitUndefined({ digest: digest === undefined ? undefined : cleanText(digest) }) };
}
