// Checks of what callers pass to a session runtime.
import { StopReason } from '../../continuation/index.ts';
import type { IdSource } from '../../lib/index.ts';
import { checkKeys, cleanText, describeValue, InvalidArgumentError, isRecord, omitUndefined } from '../../lib/index.ts';
import type { Message, MessageContent } from '../../messages/index.ts';
import { toUserMessage } from '../../messages/index.ts';
import { ExecutionStatus } from '../../step-by-step/index.ts';
import type { ActionOptions, ForkPoint, SendRequest } from './action.ts';
import type { FeedFilter, FeedOptions, FollowOptions } from './feed.ts';
import { ForeignApprovalError } from './errors.ts';
import type { AnsweredWait, EventsOptions, NewSession, SendOptions } from './session-runtime.ts';
import type { SessionFacts } from './session.ts';
import type { SessionQuery } from '../store/session-store.ts';

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;

function assert(isValid: boolean, message: string): asserts isValid {
  if (!isValid) throw new InvalidArgumentError(message);
}

const describeBy = (by: unknown): string =>
  isRecord(by) ? `{ id: ${describeValue(by['id'])}, kind: ${describeValue(by['kind'])} }` : describeValue(by);

/** True if text is a `traceparent` of W3C Trace Context: of any version, with ids that are not all zero. */
export const isTraceparent = (value: unknown): value is string =>
  typeof value === 'string' && /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.{0,256})?$/.test(value);

/** Checks the author and the request id of an action. Returns a copy: later changes of the original do not count. */
export function parseActionOptions(options: ActionOptions, method = 'action', more: readonly string[] = []): ActionOptions {
  const given: { readonly [Key in keyof ActionOptions]?: unknown } = isRecord(options) ? options : {};
  checkKeys(`${method}()`, given, ['by', 'requestId', 'until', 'traceparent', ...more]);
  const { by, requestId, until, traceparent } = given;
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
  if (traceparent !== undefined && !isTraceparent(traceparent))
    throw new InvalidArgumentError(
      `traceparent must have the form "00-<32 hex digits>-<16 hex digits>-<2 hex digits>", not ${describeValue(traceparent)}. Pass the header as it came, or leave it out.`,
    );
  return {
    by: { id: cleanText(id), kind: cleanText(kind) },
    ...omitUndefined({ requestId: request, traceparent }),
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

/** Checks that the options of a method are an object, and that the method knows them. */
export function parseOptions(given: unknown, method: string, known: readonly string[]): Readonly<Record<string, unknown>> {
  assert(isRecord(given), `The options of ${method}() must be an object, not ${describeValue(given)}.`);
  checkKeys(`${method}()`, given, known);
  return given;
}

/** Checks a switch. */
export function parseBoolean(value: unknown, what: string): boolean {
  assert(typeof value === 'boolean', `${what} must be true or false, not ${describeValue(value)}.`);
  return value;
}

function parseTime(value: unknown, what: string): number {
  assert(isTime(value), `${what} must be a time in milliseconds since 1970, not ${describeValue(value)}.`);
  return value;
}

function parseCount(value: unknown, what: string): number {
  assert(typeof value === 'number', `${what} must be a whole number of 1 or more, not ${describeValue(value)}.`);
  return value;
}

/** Checks of filters: each takes the value and what it is called. */
const filters: Readonly<Record<keyof SessionQuery, (value: unknown, what: string) => unknown>> = {
  tenant: parseText,
  agentName: parseText,
  owner: parseText,
  status: (value) => parseOneOf(value, 'status', Object.values(ExecutionStatus)),
  stopReason: (value) => parseOneOf(value, 'stop reason', Object.values(StopReason)),
  tag: parseText,
  isOpen: parseBoolean,
  wakeBefore: parseTime,
  updatedBefore: parseTime,
  limit: parseCount,
  cursor: parseText,
};

// Holds: these are all the names.
const filterNames = Object.keys(filters) as readonly (keyof SessionQuery)[];

/** The method that a filter is passed to, and the filters that it takes. */
interface QueryRules {
  readonly method?: string;
  readonly known?: readonly string[];
}

/** Refuses a filter that would silently match everything, or nothing. */
export function parseQuery(query: SessionQuery, { method = 'list', known = filterNames }: QueryRules = {}): SessionQuery {
  const given: unknown = query;
  assert(isRecord(given), `${method}() needs an object of filters, such as { tenant: "acme" }, not ${describeValue(given)}.`);
  checkKeys(`${method}()`, given, known);
  const asked = filterNames.filter((name) => given[name] !== undefined);
  return Object.fromEntries(asked.map((name) => [name, filters[name](given[name], `${method}(): ${name}`)]));
}

const followKeys = ['follow', 'redact', 'signal'];

/** Options of a reader that may follow, checked. */
type Following = FollowOptions & Required<Pick<FollowOptions, 'follow' | 'redact'>>;

function parseFollowing({ follow = false, redact = false, signal }: Readonly<Record<string, unknown>>, method: string): Following {
  const flags = { follow: parseBoolean(follow, `${method}(): follow`), redact: parseBoolean(redact, `${method}(): redact`) };
  assert(
    signal === undefined || signal instanceof AbortSignal,
    `${method}(): signal must be an AbortSignal, not ${describeValue(signal)}.`,
  );
  return { ...flags, ...omitUndefined({ signal }) };
}

/** Options for reading events, checked. */
export type ParsedEventsOptions = Following & Required<Pick<EventsOptions, 'fromSeq'>>;

/** Checks the options of events(). */
export function parseEventsOptions(options: EventsOptions): ParsedEventsOptions {
  const asked: unknown = options;
  if (typeof asked === 'number')
    throw new InvalidArgumentError(`The options of events() must be an object, not ${asked}. Use { fromSeq: ${asked} }.`);
  const given = parseOptions(options, 'events', ['fromSeq', ...followKeys]);
  const { fromSeq = 0 } = given;
  assert(
    isAmount(fromSeq) && Number.isSafeInteger(fromSeq),
    `events(): fromSeq must be the number of an event, or 0 to read all, not ${describeValue(fromSeq)}.`,
  );
  return { fromSeq, ...parseFollowing(given, 'events') };
}

/** Checks which sessions, and which types of events, are read. */
export function parseFeedFilter({ tenant, types }: Readonly<Record<string, unknown>>, method: string): FeedFilter {
  assert(
    types === undefined || (Array.isArray(types) && types.length > 0 && types.every(isText)),
    `${method}(): types must be a list of event types, such as ["ToolApprovalRequested"], not ${describeValue(types)}.`,
  );
  return omitUndefined({
    tenant: tenant === undefined ? undefined : parseText(tenant, `${method}(): tenant`),
    types: types && [...types].map(String),
  });
}

/** Options for reading the feed, checked. */
export type ParsedFeedOptions = Following & FeedFilter & Pick<FeedOptions, 'after'>;

/** Checks the options of feed(). */
export function parseFeedOptions(options: FeedOptions): ParsedFeedOptions {
  const given = parseOptions(options, 'feed', ['after', 'tenant', 'types', ...followKeys]);
  const after = given['after'] === undefined ? {} : { after: parseText(given['after'], 'feed(): after') };
  return { ...after, ...parseFeedFilter(given, 'feed'), ...parseFollowing(given, 'feed') };
}

/** Checks the options of openStep(). */
export const parseOpenStepOptions = (options: FollowOptions): FollowOptions =>
  parseFollowing(parseOptions(options, 'openStep', followKeys), 'openStep');

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

/** Checks what a message does to an execution in progress. The default is left out: so it is stored. */
export function parseSendRules(options: SendOptions): Pick<SendRequest, 'whileRunning' | 'whileWaiting'> {
  const whileRunning = parseOneOf(options.whileRunning, 'whileRunning of send()', ['join', 'queue', 'interrupt'] as const);
  const whileWaiting = parseOneOf(options.whileWaiting, 'whileWaiting of send()', ['supersede', 'queue', 'refuse'] as const);
  return omitUndefined({
    whileRunning: whileRunning === 'join' ? undefined : whileRunning,
    whileWaiting: whileWaiting === 'supersede' ? undefined : whileWaiting,
  });
}

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
