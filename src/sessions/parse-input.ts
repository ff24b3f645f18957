// Checks of what callers pass to a session runtime.
import { StopReason } from '../continuation/index.ts';
import type { IdSource } from '../lib/index.ts';
import { checkKeys, cleanText, InvalidArgumentError, isRecord, omitUndefined } from '../lib/index.ts';
import type { MessageContent } from '../messages/index.ts';
import { isMessageContent, Message } from '../messages/index.ts';
import { ExecutionStatus } from '../step-by-step/index.ts';
import type { ActionOptions, ForkPoint } from './action.ts';
import { ForeignApprovalError } from './foreign-approval-error.ts';
import type { AnsweredWait, EventsOptions, NewSession, SessionRuntimeOptions } from './runtime-options.ts';
import type { SessionFacts } from './session.ts';
import type { SessionQuery } from './session-store.ts';

const storeMethods = ['claim', 'readClaim', 'beat', 'release', 'write', 'load', 'entries', 'findRequest', 'list', 'quarantine'];

const knownOptions = [
  ...['agents', 'store', 'context', 'onVersionChange', 'approvals', 'onOutage', 'maxRecoveries', 'maxConcurrent', 'keepInMemory'],
  ...['onEvent', 'onProblem', 'name', 'takeOver', 'standby', 'heartbeatClock', 'clock', 'ids'],
];

const knownFilters = ['tenant', 'agentId', 'owner', 'status', 'stopReason', 'tag', 'isOpen', 'wakeBefore', 'limit', 'cursor'];

const isAgent = (agent: unknown): boolean =>
  isRecord(agent) && typeof agent['id'] === 'string' && typeof agent['run'] === 'function' && isRecord(agent['states']);

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;

function assert(isValid: boolean, message: string): asserts isValid {
  if (!isValid) throw new InvalidArgumentError(message);
}

/** Checks the author and the request id of an action. Returns a copy: later changes of the original do not count. */
export function parseActionOptions(options: ActionOptions): ActionOptions {
  const given: { readonly [Key in keyof ActionOptions]?: unknown } = isRecord(options) ? options : {};
  const { by, requestId, until } = given;
  const { id, kind } = isRecord(by) ? by : {};
  assert(isText(id) && isText(kind), 'Say who acts: by: { id, kind }, both of them text that is not empty.');
  assert(
    kind.trim().toLowerCase() !== 'system',
    `by.kind ${JSON.stringify(kind)} is reserved for what the runtime does itself, such as expiry. Use another word, such as "service".`,
  );
  const request = requestId === undefined ? undefined : parseText(requestId, 'requestId');
  if (until !== undefined && until !== 'rest' && until !== 'accepted')
    throw new InvalidArgumentError(`until must be "rest" or "accepted", not ${JSON.stringify(until)}.`);
  return {
    by: { id: cleanText(id), kind: cleanText(kind) },
    ...omitUndefined({ requestId: request }),
    ...(until !== undefined && { until }),
  };
}

/** Checks a number of milliseconds that a timer can wait for. */
export function parseMs(value: unknown, what: string): number {
  assert(isAmount(value), `${what} must be a number of 0 or more, not ${typeof value === 'number' ? value : typeof value}.`);
  return value;
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'number' || value === null ? String(value) : typeof value;
}

function parseOneOf<Value extends string>(value: unknown, what: string, known: readonly Value[]): Value | undefined {
  const found = known.find((each) => each === value);
  assert(value === undefined || found !== undefined, `Unknown ${what} ${describe(value)}. Use one of ${known.join(', ')}.`);
  return found;
}

/** Refuses a filter that would silently match everything, or nothing. */
export function parseQuery(query: SessionQuery): SessionQuery {
  const given: unknown = query;
  assert(isRecord(given), `list({ tenant, owner, … }) takes an object of filters, not ${describe(given)}.`);
  checkKeys('list()', given, { known: knownFilters });
  const parseFilter = (name: keyof SessionQuery): string | undefined =>
    given[name] === undefined ? undefined : parseText(given[name], `The filter ${name} of list()`);
  const { isOpen, wakeBefore, limit } = given;
  assert(
    isOpen === undefined || typeof isOpen === 'boolean',
    `The filter isOpen of list() must be true or false, not ${describe(isOpen)}.`,
  );
  assert(
    wakeBefore === undefined || isTime(wakeBefore),
    `The filter wakeBefore of list() must be a time in milliseconds, not ${describe(wakeBefore)}.`,
  );
  assert(limit === undefined || typeof limit === 'number', `The limit of list() must be a whole number from 1 on, not ${describe(limit)}.`);
  return omitUndefined({
    tenant: parseFilter('tenant'),
    agentId: parseFilter('agentId'),
    owner: parseFilter('owner'),
    tag: parseFilter('tag'),
    cursor: parseFilter('cursor'),
    status: parseOneOf(given['status'], 'status', Object.values(ExecutionStatus)),
    stopReason: parseOneOf(given['stopReason'], 'stop reason', Object.values(StopReason)),
    isOpen,
    wakeBefore,
    limit,
  });
}

/** Options for reading events, checked. */
export type ParsedEventsOptions = EventsOptions & Required<Pick<EventsOptions, 'fromSeq' | 'follow' | 'redact'>>;

/** Checks the options of events(). */
export function parseEventsOptions(options: EventsOptions): ParsedEventsOptions {
  const given: unknown = options;
  const hint = typeof given === 'number' ? ` Use { fromSeq: ${given} }.` : '';
  assert(isRecord(given), `events(sessionId, { fromSeq, follow, redact, signal }) takes an object, not ${describe(given)}.${hint}`);
  checkKeys('events()', given, { known: ['fromSeq', 'follow', 'redact', 'signal'] });
  const { fromSeq = 0, follow = false, redact = false, signal } = given;
  const found = typeof fromSeq === 'number' ? fromSeq : describe(fromSeq);
  assert(
    isAmount(fromSeq) && Number.isSafeInteger(fromSeq),
    `fromSeq of events() must be the number of an event, or 0 for all; it is ${found}.`,
  );
  for (const [name, value] of Object.entries({ follow, redact }))
    assert(typeof value === 'boolean', `${name} of events() must be true or false, not ${describe(value)}.`);
  assert(signal === undefined || signal instanceof AbortSignal, `signal of events() must be an AbortSignal, not ${describe(signal)}.`);
  return { fromSeq, follow: follow === true, redact: redact === true, ...omitUndefined({ signal }) };
}

/** Checks the step that a fork starts after. */
export function parseForkPoint(at: unknown): Omit<ForkPoint, 'sessionId'> {
  const { execution, step } = isRecord(at) ? at : {};
  if (typeof execution === 'number' && typeof step === 'number') return { execution, step };
  throw new InvalidArgumentError('fork(sessionId, { execution, step }, …) takes the numbers of an execution and of a step of it.');
}

/** Refuses options that a runtime could not work with. */
export function parseRuntimeOptions(options: SessionRuntimeOptions): SessionRuntimeOptions {
  const given: unknown = options;
  assert(isRecord(given), 'createSessionRuntime({ agents, store }) takes an object.');
  checkKeys('createSessionRuntime()', options, { known: knownOptions });
  const { store, context, keepInMemory, maxRecoveries, maxConcurrent, agents, approvals, onOutage } = given;
  assert(Array.isArray(agents) && agents.every(isAgent), 'agents must be a list of agents, as createAgent() or AgentBuilder make them.');
  assert(keepInMemory === undefined || isAmount(keepInMemory), 'keepInMemory must be a number of 0 or more.');
  for (const flag of ['takeOver', 'standby'] as const)
    assert(given[flag] === undefined || typeof given[flag] === 'boolean', `${flag} must be true or false, not ${typeof given[flag]}.`);
  assert(
    given['takeOver'] !== true || given['standby'] !== true,
    'takeOver takes the store at once, standby waits for it: pass one of them.',
  );
  assert(given['name'] === undefined || typeof given['name'] === 'string', `name must be text, not ${typeof given['name']}.`);
  assertCount(maxRecoveries, 'maxRecoveries', 0);
  assertCount(maxConcurrent, 'maxConcurrent', 1);
  assert(
    isRecord(store) && storeMethods.every((name) => typeof store[name] === 'function'),
    'A session runtime needs a store: createMemoryStore(), or sqliteStore({ path }) of "stepline/sqlite".',
  );
  assert(
    context === undefined || typeof context === 'function',
    'context must be a function that returns the context of a run: (session) => …',
  );
  assert(
    onOutage === undefined || onOutage === 'fail' || onOutage === 'park' || isOutageRule(onOutage),
    `onOutage must be "fail", "park" or { maxMs } with a number above 0, not ${JSON.stringify(onOutage)}.`,
  );
  if (approvals !== undefined) checkApprovals(isRecord(approvals) ? approvals : {});
  return options;
}

/** Refuses anything but a whole number, or Infinity, of at least so much. */
function assertCount(value: unknown, name: string, least: number): void {
  const isCount = typeof value === 'number' && value >= least && (Number.isSafeInteger(value) || value === Number.POSITIVE_INFINITY);
  const found = typeof value === 'number' ? value : JSON.stringify(value);
  assert(value === undefined || isCount, `${name} must be a whole number of ${least} or more, or Infinity, not ${String(found)}.`);
}

function isOutageRule(value: unknown): boolean {
  if (!isRecord(value) || Object.keys(value).some((name) => name !== 'maxMs')) return false;
  return Number.isFinite(value['maxMs']) && Number(value['maxMs']) > 0;
}

function checkApprovals({ expireAfterMs, whenExpired = 'reject' }: Readonly<Record<string, unknown>>): void {
  assert(
    Number.isFinite(expireAfterMs) && Number(expireAfterMs) > 0,
    `approvals.expireAfterMs must be a number greater than 0, not ${String(expireAfterMs)}.`,
  );
  assert(whenExpired === 'reject' || whenExpired === 'approve', 'approvals.whenExpired must be "reject" or "approve".');
}

/** Refuses anything but text, and empty text. Characters that cannot be stored are replaced, in what is stored and in what is asked for. */
export function parseText(value: unknown, what: string): string {
  assert(isText(value), `${what} must be text that is not empty, not ${value === '' ? 'empty' : typeof value}.`);
  return cleanText(value);
}

/** Creates a message from user input. */
export function parseMessage(content: MessageContent | Message, ids: IdSource): Message {
  assert(isMessageContent(content), 'send(sessionId, content, { by }) takes text, a message or parts.');
  const message = content instanceof Message ? content : Message.user(content, { ids });
  assert(!message.isEmpty, 'send(sessionId, content, { by }) needs something to say; the message is empty.');
  return message;
}

/** Checks that a new session is described by an object. */
export function parseNewSession(session: NewSession): NewSession {
  const given: unknown = session;
  assert(isRecord(given), 'create({ agent, tenant, owner, tags }, { by }) takes an object; {} will do.');
  return session;
}

type Wishes = { readonly [Key in 'id' | 'tenant' | 'owner' | 'tags']?: NewSession[Key] | undefined };

/** Checks the fields that a session is found by. */
export function parseFacts({ id, tenant, owner, tags = [] }: Wishes): Pick<SessionFacts, 'id' | 'tenant' | 'owner' | 'tags'> {
  assert(Array.isArray(tags), 'tags must be a list of text.');
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
  assert(isRecord(given) && typeof given['id'] === 'string', 'Hand back the wait that was shown: it has an id and a digest.');
  const { digest } = given;
  assert(
    digest === undefined || typeof digest === 'string',
    `The digest of a wait is text, not ${typeof digest}. Hand back the wait itself.`,
  );
  if (wait.sessionId !== undefined && wait.sessionId !== sessionId)
    throw new ForeignApprovalError(wait.id, { own: sessionId, given: wait.sessionId });
  return { waitId: cleanText(given['id']), ...omitUndefined({ digest: digest === undefined ? undefined : cleanText(digest) }) };
}
