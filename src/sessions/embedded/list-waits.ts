import { cleanText, defaultRedactor, omitUndefined } from '../../lib/index.ts';
import type { Session, SessionWait } from '../core/session.ts';
import type { ListedWait, ListedWaits, WaitsQuery } from '../core/session-runtime.ts';
import type { SessionReader } from '../store/session-store.ts';

/** Length of the arguments in a list; the session has all of them. */
const summaryLength = 500;

/** Sessions on a page, unless the caller asks for another number. */
const defaultLimit = 50;

/** Sources of what is waited for. */
export interface WaitSources {
  readonly store: Pick<SessionReader, 'heads'>;
  readonly get: (sessionId: string) => Promise<Session>;
}

function getWaitStart({ state, updatedAt }: Session, wait: SessionWait): number {
  if ('since' in wait) return wait.since;
  const { pendingStep, lastStepResult } = state;
  return pendingStep?.askedEarlier?.[wait.id] ?? pendingStep?.parkedAt ?? lastStepResult?.timing.endedAt ?? updatedAt;
}

function summarize(wait: SessionWait): string | undefined {
  if (!('args' in wait)) return wait.type === 'person' && wait.prompt !== undefined ? defaultRedactor.text(wait.prompt) : undefined;
  const text = JSON.stringify(defaultRedactor.value(wait.args));
  return text.length <= summaryLength ? text : `${cleanText(text.slice(0, summaryLength - 1))}…`;
}

function toListedWait(session: Session, wait: SessionWait): ListedWait {
  const { id: sessionId, tenant, owner, agent } = session;
  const { id, type, digest, expiresAt, problem } = wait;
  return omitUndefined({
    sessionId,
    tenant,
    owner,
    agent,
    wait: omitUndefined({
      id,
      type,
      sessionId,
      digest,
      expiresAt,
      toolName: 'toolName' in wait ? wait.toolName : undefined,
      limit: wait.type === 'grant' ? wait.limit : undefined,
      askedBy: wait.agent,
      problem: problem === undefined ? undefined : defaultRedactor.text(problem),
    }),
    summary: summarize(wait),
    since: getWaitStart(session, wait),
  });
}

/** Lists everything that waits for somebody, one page of sessions. A provider that is down is not somebody. */
export async function listWaits({ store, get }: WaitSources, { limit = defaultLimit, ...query }: WaitsQuery): Promise<ListedWaits> {
  const { sessions, cursor } = await store.heads.list({ ...query, status: 'waiting', limit });
  const waits: ListedWait[] = [];
  const unreadable: { readonly sessionId: string; readonly problem: string }[] = [];
  for (const { id, damage } of sessions) {
    try {
      if (damage !== undefined) throw new Error(damage);
      const session = await get(id);
      waits.push(...session.waitingFor.filter(({ type }) => type !== 'provider').map((wait) => toListedWait(session, wait)));
    } catch (error) {
      unreadable.push({ sessionId: id, problem: error instanceof Error ? error.message : String(error) });
    }
  }
  return { waits, unreadable, ...(cursor !== undefined && { cursor }) };
}
