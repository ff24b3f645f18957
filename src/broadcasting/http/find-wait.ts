// What is answered, and who asked for it.
import type { Json, JsonObject } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { Actor, Session, SessionRuntime, SessionWait, StoredEventOf } from '../../sessions/index.ts';
import { LateAnswerError } from '../../sessions/index.ts';
import { NotWaitingError } from '../../step-by-step/index.ts';
import type { RequestedWait } from './authorization.ts';

/** History of a wait in the stored events. */
interface WaitHistory {
  /** Author of the last message before it was asked for. */
  readonly requestedBy?: Actor;
  /** Digests of everything that was asked for under its id. */
  readonly digests: ReadonlySet<string>;
  /** Description of its end, if it has ended. */
  readonly ending?: string;
}

const describeEnding = ({ by, decision, at }: StoredEventOf<'WaitResolved'>): string =>
  `it was ${decision} by ${by.kind} ${by.id} at ${new Date(at).toISOString()}`;

/** Reads what the events of a session say about one of its waits. */
export async function readWaitHistory(runtime: SessionRuntime, sessionId: string, waitId: string): Promise<WaitHistory> {
  const digests = new Set<string>();
  let [author, asker, ending]: [Actor?, Actor?, string?] = [];
  for await (const event of runtime.events(sessionId)) {
    if (event.type === 'UserMessageReceived') author = event.by;
    if (!('waitId' in event) || event.waitId !== waitId) continue;
    if (event.type === 'WaitResolved') ending = describeEnding(event);
    else {
      // An id may be used again.
      [asker, ending] = [author, undefined];
      if ('digest' in event) digests.add(event.digest);
    }
  }
  const requestedBy = asker ?? author;
  return { digests, ...(requestedBy !== undefined && { requestedBy }), ...(ending !== undefined && { ending }) };
}

/** Finds the path of the run that an event comes from, as waits have it; undefined if that is the run of the session itself. */
function findPath(event: JsonObject, paths: ReadonlyMap<Json, string | undefined>, { state }: Session): string | undefined {
  const { parentAgentId: outer = null, agentName, participant } = event;
  if (outer === null) return undefined;
  // Whoever has a turn is known by the name in the conversation.
  const name = outer === state.agentId && participant !== undefined ? participant : agentName;
  return [paths.get(outer) ?? [], typeof name === 'string' ? name : ''].flat().join('/');
}

/** Lists the calls that the open step has asked about, though it does not wait yet: other calls of the step still run. */
async function listAskedCalls(runtime: SessionRuntime, session: Session): Promise<readonly SessionWait[]> {
  const found = new Map<string, SessionWait>();
  const paths = new Map<Json, string | undefined>();
  for await (const item of runtime.openStep(session.id)) {
    if (item.type === 'void' && item.answer === undefined) found.clear();
    if (item.type !== 'event') continue;
    const { agentId, waitId, toolCallId, tool, args = null, digest } = item.event;
    paths.set(agentId, findPath(item.event, paths, session));
    // Arguments that were cut cannot be shown to whoever decides.
    if (item.event.type !== 'ToolApprovalRequested' || item.cut?.includes('args') === true) continue;
    const id = waitId ?? toolCallId;
    if (typeof id !== 'string' || typeof tool !== 'string' || typeof digest !== 'string') continue;
    const asker = omitUndefined({ agent: paths.get(agentId) });
    found.set(id, { type: 'approval', id, toolName: tool, args, ...asker, sessionId: session.id, digest });
  }
  return [...found.values()];
}

/** Finds an open wait, also one of a step that does not wait yet. Its requester is known too. */
export async function findOpenWait(
  runtime: SessionRuntime,
  session: Session,
  isMeant: (wait: SessionWait) => boolean,
): Promise<RequestedWait | undefined> {
  const wait = session.waitingFor.find(isMeant) ?? (await listAskedCalls(runtime, session)).find(isMeant);
  if (wait === undefined) return undefined;
  const { requestedBy } = await readWaitHistory(runtime, session.id, wait.id);
  return { ...wait, ...(requestedBy !== undefined && { requestedBy }) };
}

/** Returns an open wait with its requester; undefined if there is none with this id. */
export const findWait = (runtime: SessionRuntime, session: Session, waitId: string): Promise<RequestedWait | undefined> =>
  findOpenWait(runtime, session, ({ id }) => id === waitId);

/** Returns the error for an answer to something that is not waited for. */
export async function createWaitError(runtime: SessionRuntime, session: Session, waitId: string): Promise<Error> {
  const { ending } = await readWaitHistory(runtime, session.id, waitId);
  if (ending !== undefined) return new LateAnswerError(waitId, ending);
  return new NotWaitingError(
    waitId,
    session.waitingFor.map(({ id }) => id),
  );
}
