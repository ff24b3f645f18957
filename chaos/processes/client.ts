// A client: creates sessions, sends, approves, and follows events, the feed and text. It never runs a session itself. One that was killed is
// started again, and continues with its record.
import { setTimeout as pause } from 'node:timers/promises';
import type { SessionResult, StoredEvent } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { createChaosAgent } from './agent.ts';
import type { FollowedSession, FollowOptions } from './follow.ts';
import { followFeed, followSessionEvents, followOpenSteps } from './follow.ts';
import { openDatabase } from './open-database.ts';
import type { ClientOrders, ClientRecord } from './orders.ts';
import { getFiles } from './orders.ts';
import { createQuestion, createSessionIds, getApprovalWay, getIndex, isSlow } from './plan.ts';
import { readClient } from './records.ts';
import { listenToParent, openRecord, readCode, readMessage, readOrders, report, reportProblem } from './report.ts';

const orders = readOrders<ClientOrders>();
const { client, clients, sessions, steps } = orders;
const record = openRecord<ClientRecord>(getFiles(orders.folder).record(orders.name));
const database = await openDatabase(orders.database);
const runtime = createSessionRuntime({ agents: [createChaosAgent()], store: database.store, role: 'client', onProblem: reportProblem });
const by = { id: orders.name, kind: 'user' };
const ending = new AbortController();
const options: FollowOptions = { runtime, record, signal: ending.signal };

const getOwner = (session: string): number => getIndex(session) % clients;
/** The client that approves too, if two do. */
const getPartner = (session: string): number => (getOwner(session) + 1) % clients;
const ids = createSessionIds(sessions);

// What a client of this name has recorded before it was killed.
const before = readClient(orders.folder, orders.name);
record({ type: 'started' });
const ended = new Set(before.flatMap((line) => (line.type === 'result' ? [line.session] : [])));
const lastSeqs = new Map(before.flatMap((line): [string, number][] => (line.type === 'event' ? [[line.session, line.seq]] : [])));

/** Codes of an approval that came second. */
const lateCodes = ['late-answer', 'already-answered', 'not-waiting'];

interface Approval {
  readonly session: string;
  readonly waitId: string;
  readonly digest: string;
  readonly requestId: string;
}

/** Approves a call. Undefined if another approval came first. */
async function approve({ session, waitId, digest, requestId }: Approval): Promise<SessionResult | undefined> {
  try {
    const result = await runtime.approve(session, { id: waitId, digest, sessionId: session }, { by, requestId });
    record({ type: 'accepted', session, requestId });
    return result;
  } catch (error) {
    const code = readCode(error);
    if (!lateCodes.includes(code)) throw error;
    record({ type: 'refused', session, waitId, requestId, code });
    return undefined;
  }
}

/** Reads the step from the id of a call. */
const readStep = (waitId: string): number => Number(waitId.split('-').at(-1));

async function approveAsOwner(session: string, waitId: string, digest: string): Promise<SessionResult | undefined> {
  const way = getApprovalWay(session, readStep(waitId));
  const approval = { session, waitId, digest, requestId: `approve-${waitId}` };
  if (way !== 'same-request') return approve(approval);
  const [first, second] = await Promise.all([approve(approval), approve(approval)]);
  return first ?? second;
}

/** Approves what a followed event asks for, if this client is the second one to do so. */
async function approveAsPartner(session: string, event: StoredEvent): Promise<void> {
  if (event.type !== 'ToolApprovalRequested') return;
  const { waitId, digest } = event;
  if (waitId === undefined || digest === undefined) return;
  const way = getApprovalWay(session, readStep(waitId));
  if (way !== 'two-clients' && way !== 'two-clients-same-request') return;
  const requestId = way === 'two-clients' ? `approve-${waitId}-too` : `approve-${waitId}`;
  await approve({ session, waitId, digest, requestId });
}

/** Keeps an error that no client should get. */
function recordError(error: unknown, where: string): void {
  record({ type: 'error', code: readCode(error), where, message: readMessage(error) });
}

/** Repeats an action that failed, under the same request id: whatever became of the first attempt, it takes effect once. */
async function persist<Value>(where: string, act: () => Promise<Value>): Promise<Value> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await act();
    } catch (error) {
      recordError(error, where);
      if (attempts >= 20) throw error;
      await pause(250);
    }
  }
}

async function runSession(session: string): Promise<void> {
  const requestId = `send-${session}`;
  const send = (until: 'rest' | 'accepted'): Promise<SessionResult> =>
    persist(`send to ${session}`, () => runtime.send(session, createQuestion(session, steps), { by, requestId, until }));
  await persist(`create ${session}`, () => runtime.create({ id: session }, { by, requestId: `create-${session}` }));
  record({ type: 'accepted', session, requestId: `create-${session}` });
  if (getIndex(session) % 2 === 0) await send('accepted');
  record({ type: 'accepted', session, requestId });
  for (let result = await send('rest'); ;) {
    const [wait] = result.waitingFor;
    if (result.status === 'waiting' && wait !== undefined) {
      const next = await persist(`approve ${wait.id} of ${session}`, () => approveAsOwner(session, wait.id, wait.digest));
      // The other approval came first: the request that started it all says how far it is.
      if (next === undefined) await pause(20);
      result = next ?? (await send('rest'));
    } else if (result.status === 'in_progress' || result.status === 'pending') {
      await pause(20);
      result = await send('rest');
    } else {
      record({ type: 'result', session, execution: result.execution, status: result.status, text: result.text });
      return;
    }
  }
}

const followed = new Map<string, FollowedSession>();
const readers: Promise<void>[] = [];
const approvals: Promise<void>[] = [];
for (const session of ids) {
  if (getOwner(session) !== client && getPartner(session) !== client) continue;
  const onEvent = (event: StoredEvent): void => {
    if (getPartner(session) !== client) return;
    const approving = persist(`approve ${session} too`, () => approveAsPartner(session, event));
    approvals.push(approving.catch(() => undefined));
  };
  const following = followSessionEvents({ session, fromSeq: lastSeqs.get(session) ?? 0 }, options, onEvent);
  followed.set(session, following);
  readers.push(following.done);
  if (isSlow(session)) readers.push(followOpenSteps(session, options));
}

const cursors = before.flatMap((line) => (line.type === 'fed' ? [line.cursor] : []));
const feed = followFeed(cursors.at(-1), options);
readers.push(feed.done);

const left = ids.filter((session) => getOwner(session) === client && !ended.has(session));

/** Keeps all sessions from asking the model for a moment. */
async function holdForAMoment(): Promise<void> {
  await runtime.hold({ tenant: 'nobody' }, 'kept to the end');
  const { id } = await runtime.hold({ agent: 'chaos' }, 'a short break', { by });
  await pause(200);
  if (!(await runtime.release(id))) throw new Error(`The hold ${id} was gone before it was released.`);
}

/** Releases what a client of this name has held before it was killed. */
async function releaseHolds(): Promise<void> {
  for (const { id, by: holder } of await runtime.holds()) if (holder?.id === orders.name) await runtime.release(id);
}

async function runSessions(): Promise<void> {
  for (let id = left.shift(); id !== undefined; id = left.shift()) {
    const session = id;
    await runSession(session).catch((error: unknown) => recordError(error, `session ${session}`));
    ended.add(session);
    if (ended.size === 2) await holdForAMoment().catch((error: unknown) => recordError(error, 'a hold'));
  }
}

/** Waits until everything that is stored was seen, or for too long. */
async function catchUp(session: string, following: FollowedSession): Promise<void> {
  const { lastSeq } = await persist(`get ${session}`, () => runtime.get(session));
  const until = performance.now() + 10_000;
  while (following.lastSeq < lastSeq && performance.now() < until) await pause(20);
}

listenToParent(({ type }) => {
  if (type !== 'finish') return;
  void (async () => {
    await Promise.all(approvals);
    await Promise.all([...followed].map(([session, each]) => catchUp(session, each)));
    await feed.caughtUp();
    ending.abort();
    await Promise.all(readers);
    await runtime.drain();
    await database.close();
    report({ type: 'done' });
    process.exit(0);
  })();
});
await persist('the holds', releaseHolds);
await Promise.all(Array.from({ length: orders.atOnce }, runSessions));
report({ type: 'done' });
