// The copy of sessions that readers use.
// Owns:     turning the reports of turns into writes to a store.
// D1. A repeated or late report changes nothing.
// D2. A change to entries that the copy does not have is left out, and the reply says so.
// D3. While a worker runs a session, the copy says which. A worker that is new to the session learns whether mails wait for it.
// D4. What fails for one session does not keep the others from being stored.
import type { EffectRow } from '../../journal/index.ts';
import { SteplineError } from '../../lib/index.ts';
import type { OpenEffects, SessionStore } from '../index.ts';
import { toWire } from '../index.ts';
import type { ReportReply, TurnChange, TurnReport } from './protocol.ts';

const hasCode = (error: unknown, code: string): boolean => SteplineError.is(error) && error.code === code;

/** The claim under which the desk writes. */
class CopyClaim {
  readonly #store: SessionStore;
  #reading: Promise<number> | undefined;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  read(): Promise<number> {
    return (this.#reading ??= this.#readEpoch());
  }

  /** Forgets a claim under which nothing can be written any more. */
  forget(): void {
    this.#reading = undefined;
  }

  async #readEpoch(): Promise<number> {
    const { epoch } = await this.#store.readClaim();
    return epoch === 0 ? this.#store.claim({ after: 0 }) : epoch;
  }
}

const workerPrefix = 'worker/';

/** The row that names the worker of a session. The next step clears it, so a session at rest has none. */
const toWorkerRow = (worker: string): EffectRow => ({ key: `${workerPrefix}${worker}`, phase: 'intent', body: '{}' });

/** Finds the workers that run a session: usually one, two after one of them has died. */
export async function findWorkers(list: SessionStore, sessionId: string): Promise<readonly string[]> {
  try {
    const found = await list.effects(sessionId, { prefix: workerPrefix });
    if (found?.header.isOpen !== true) return [];
    return found.effects.map(({ key }) => key.slice(workerPrefix.length));
  } catch (error) {
    // The session itself is intact: its own turn delivers the mail.
    if (hasCode(error, 'session-damaged')) return [];
    throw error;
  }
}

type WriteChange = Extract<TurnChange, { type: 'write' }>;
type RewriteChange = Extract<TurnChange, { type: 'rewrite' }>;

/** A session of the copy, and the worker that runs it. */
interface CopyTarget {
  readonly store: SessionStore;
  readonly claim: CopyClaim;
  readonly sessionId: string;
  readonly worker: string | undefined;
}

const toKey = ({ key, phase }: EffectRow): string => `${phase} ${key}`;

/** Returns the part of a write that the copy lacks; undefined if there is none. */
function findFresh(write: WriteChange, known: OpenEffects | undefined, worker: string | undefined): WriteChange | undefined {
  const head = known?.head ?? 0;
  const entries = (write.entries ?? []).filter(({ n }) => n > head);
  const { takesMail = [] } = write;
  // What was written together with entries that are here already is here too.
  const isNew = entries.length > 0;
  const clearsEffects = isNew && write.clearsEffects === true;
  const stored = new Set(clearsEffects ? [] : known?.effects.map(toKey));
  const header = isNew ? write.header : undefined;
  const isRunning = worker !== undefined && (header ?? known?.header)?.isOpen === true;
  const effects = [...(write.effects ?? []), ...(isRunning ? [toWorkerRow(worker)] : [])].filter((row) => !stored.has(toKey(row)));
  if (!isNew && effects.length === 0 && takesMail.length === 0) return undefined;
  return { type: 'write', after: head, entries, effects, clearsEffects, takesMail, ...(header !== undefined && { header }) };
}

/** Applies a write. Returns false if entries before it are missing. */
async function applyWrite({ store, claim, sessionId, worker }: CopyTarget, write: WriteChange): Promise<boolean> {
  const known = await store.effects(sessionId);
  const head = known?.head ?? 0;
  if (write.after > head) return false;
  if ((write.entries?.at(-1)?.n ?? write.after) < head) return true;
  const fresh = findFresh(write, known, worker);
  if (fresh === undefined) return true;
  const { type: _, ...rest } = fresh;
  await store.write({ ...rest, sessionId, epoch: await claim.read() });
  return true;
}

/** True if entries have these texts already. */
async function hasTexts(store: SessionStore, sessionId: string, entries: RewriteChange['entries']): Promise<boolean> {
  for (const { n, body, events } of entries) {
    const [stored] = await store.entries(sessionId, { from: n, to: n });
    if (stored?.body !== body || stored.events !== events) return false;
  }
  return true;
}

/** Applies a change. Returns false if the copy lacks what it changes. */
async function applyChange(target: CopyTarget, change: TurnChange): Promise<boolean> {
  const { store, claim, sessionId } = target;
  switch (change.type) {
    case 'write':
      return applyWrite(target, change);
    case 'rewrite': {
      const { type: _, ...rewrite } = change;
      if (await hasTexts(store, sessionId, change.entries)) return true;
      // A later entry may have been rewritten since: only the session knows what its entries are now.
      if ((await store.effects(sessionId))?.head !== change.after) return false;
      await store.rewrite({ ...rewrite, sessionId, epoch: await claim.read() });
      return true;
    }
    case 'delete': {
      const { type: _, ...deletion } = change;
      await store.delete({ ...deletion, sessionId, epoch: await claim.read() });
      return true;
    }
    case 'answer': {
      const { type: _, ...answer } = change;
      await store.answerMail({ ...answer, epoch: await claim.read() });
      return true;
    }
  }
}

/** Applies a change under the current claim, even if another process has taken it meanwhile. */
async function applyOne(target: CopyTarget, change: TurnChange): Promise<boolean> {
  for (;;) {
    try {
      return await applyChange(target, change);
    } catch (error) {
      if (hasCode(error, 'session-deleted')) return true;
      // Another worker has become the holder in the meantime.
      if (!hasCode(error, 'store-fenced')) throw error;
      target.claim.forget();
    }
  }
}

async function applyReport(
  store: SessionStore,
  claim: CopyClaim,
  { sessionId, changes, worker, isKnown = false }: TurnReport,
): Promise<ReportReply> {
  const target = { store, claim, sessionId, worker };
  let isWhole = true;
  for (const change of changes) if (!(await applyOne(target, change))) isWhole = false;
  const asksForMail = worker !== undefined && !isKnown;
  const hasMail = asksForMail && (await store.readMail({ sessionId, isWaiting: true, limit: 1 })).length > 0;
  return { isWhole, hasMail };
}

/** Applies reports to the copy, those of one session in their order. A store that cannot be used rejects. */
export async function applyReports(store: SessionStore, reports: readonly TurnReport[]): Promise<readonly ReportReply[]> {
  const claim = new CopyClaim(store);
  const last = new Map<string, Promise<unknown>>();
  return Promise.all(
    reports.map((report) => {
      const before = last.get(report.sessionId) ?? Promise.resolve();
      const applied = before
        .then(() => applyReport(store, claim, report))
        .catch((error: unknown): ReportReply => {
          if (hasCode(error, 'store-unavailable')) throw error;
          return { error: toWire(error) };
        });
      last.set(
        report.sessionId,
        applied.catch(() => undefined),
      );
      return applied;
    }),
  );
}
