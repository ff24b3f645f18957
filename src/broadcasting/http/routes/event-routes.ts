// Routes that read the events of a session.
import { describeValue, InvalidArgumentError, toCanonical } from '../../../lib/index.ts';
import type { Json } from '../../../lib/index.ts';
import type { Envelope } from '../../index.ts';
import { NotFoundError } from '../errors/not-found-error.ts';
import { isServerError, toWholeResponse } from '../json-response.ts';
import { EventStream } from '../sse/event-stream.ts';
import { toTotals } from '../session-totals.ts';
import { toSseResponse, writeGroup } from '../sse/to-sse-response.ts';
import { toIso } from '../wait-view.ts';
import type { Route, SessionCall } from './route.ts';
import { send } from './route.ts';

function readCount(text: string | null, name: string, otherwise: number): number {
  const count = text === null ? otherwise : /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (count === undefined) throw new InvalidArgumentError(`${name} must be a whole number of 0 or more, not ${describeValue(text)}.`);
  return count;
}

/** Reads the number of the last event that the reader has. A browser that reconnects knows better than the address it began with. */
function readAfter({ request, url }: SessionCall): number {
  const id = request.headers.get('last-event-id');
  if (id !== null && /^\d{1,15}$/.test(id)) return Number(id);
  return readCount(url.searchParams.get('after'), 'after', 0);
}

const largestPage = 500;

/** Events that a reader asks for: all after a number, or the last ones of them. */
interface EventRange {
  readonly after: number;
  /** True if only the last events are sent, and there are earlier ones. */
  readonly isCut: boolean;
  /** True if the reader asks for what comes after an event that the session does not have: it has read another log, and starts again. */
  readonly isRestart: boolean;
}

/** Reads which events are asked for: those after `after`, but not more than the `last` ones before `before`. */
function readRange(call: SessionCall, before: number): EventRange {
  const given = call.url.searchParams.get('last');
  const asked = readAfter(call);
  const isRestart = asked > call.session.lastSeq;
  const after = isRestart ? 0 : asked;
  const first = given === null ? 0 : before - 1 - Math.min(readCount(given, 'last', 0), largestPage);
  return first > after ? { after: first, isCut: true, isRestart } : { after, isCut: false, isRestart };
}

function follow(call: SessionCall): Response {
  const { services, session, request } = call;
  const { runtime, mapper, clock, heartbeatMs, maxBufferBytes, retryMs, maxStreamMs, report } = services;
  // First of all: a request that is refused leaves nothing behind.
  const { after, isCut, isRestart } = readRange(call, session.lastSeq + 1);
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  request.signal.addEventListener('abort', leave, { once: true });
  const cancelEnd = clock.schedule(maxStreamMs, leave, true);
  leaving.signal.addEventListener('abort', cancelEnd, { once: true });
  // The reader may have left while it was authorized.
  if (request.signal.aborted) leave();
  const totals = isCut ? toTotals(session) : undefined;
  const options = { runtime, session, mapper, after, totals, isRestart, clock, heartbeatMs, maxBufferBytes, signal: leaving.signal };
  const onError = (error: unknown): void => {
    if (!leaving.signal.aborted && isServerError(error)) report(error, `events of session "${session.id}"`);
  };
  return toSseResponse(new EventStream(options).read(), writeGroup, { retryMs, onError, leave });
}

/** Sends the envelopes of stored events: a reader of another transport fetches those that it has missed. */
async function showPage(call: SessionCall): Promise<Response> {
  const { services, session, url } = call;
  const { mapper, clock } = services;
  const { id: sessionId, lastSeq } = session;
  const isFromEnd = url.searchParams.get('last') !== null;
  // Counted in events from the end, as a reader who goes back asks for them; else in envelopes.
  const limit = isFromEnd ? Infinity : Math.min(readCount(url.searchParams.get('limit'), 'limit', 100), largestPage);
  const before = readCount(url.searchParams.get('before'), 'before', Infinity);
  const { after, isCut, isRestart } = readRange(call, Math.min(before, lastSeq + 1));
  let [prevSeq, last] = [after, after];
  const envelopes: Envelope[] = [];
  const totals = isCut && before > lastSeq ? toTotals(session) : undefined;
  if (totals !== undefined || isRestart)
    envelopes.push(mapper.toHead({ sessionId, seq: after, at: clock.now(), agentId: session.state.agentId, totals, isRestart }));
  for await (const event of services.runtime.events(sessionId, { fromSeq: after })) {
    if (event.seq >= before) last = before - 1;
    if (event.seq >= before || envelopes.length >= limit) break;
    const found = mapper.toEnvelopes(event, { sessionId, prevSeq });
    last = event.seq;
    if (found.length > 0) prevSeq = event.seq;
    envelopes.push(...found);
  }
  // Holds: envelopes are JSON, and their mapper has removed secrets.
  return toWholeResponse(200, { envelopes: envelopes as unknown as readonly Json[], from: after + 1, after: last, last_seq: lastSeq });
}

const readEvents = (call: SessionCall): Response | Promise<Response> => {
  const accept = call.request.headers.get('accept') ?? '';
  return accept.includes('application/json') && !accept.includes('text/event-stream') ? showPage(call) : follow(call);
};

/** Sends what was cut from an envelope. */
async function showPayload(call: SessionCall): Promise<Response> {
  const { services, session, params } = call;
  const [seq, part] = [readCount(params['seq'] ?? null, 'seq', 0), readCount(params['part'] ?? null, 'part', 0)];
  if (seq > 0)
    for await (const event of services.runtime.events(session.id, { fromSeq: seq - 1 })) {
      const found = event.seq === seq ? services.wholeMapper.toEnvelopes(event, { sessionId: session.id })[part - 1] : undefined;
      const data = found === undefined ? undefined : toCanonical(found.data, { maxBytes: Infinity });
      if (data?.ok === true) return send(call, 200, { session_id: session.id, seq, part, data: data.value });
      break;
    }
  throw new NotFoundError(`payload ${seq}/${part} in this session`);
}

async function issueToken({ services, session, by }: SessionCall): Promise<Response> {
  const { token, expiresAt } = await services.tokens.issue({ sessionId: session.id, by });
  return toWholeResponse(201, { token, expires_at: toIso(expiresAt) });
}

export const eventRoutes: readonly Route[] = [
  { method: 'GET', path: '/sessions/:session/events', action: 'events', on: 'session', takesToken: true, run: readEvents },
  {
    method: 'GET',
    path: '/sessions/:session/payloads/:seq/:part',
    action: 'events',
    on: 'session',
    takesToken: true,
    run: showPayload,
  },
  { method: 'POST', path: '/sessions/:session/token', action: 'events', on: 'session', run: issueToken },
];
