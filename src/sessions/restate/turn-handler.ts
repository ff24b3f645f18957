// The handler that runs one turn of a session.
// Owns:     what Restate records of a turn, and what it keeps, sends and schedules because of it.
// Does not: know what a session does in its turn.
// H1. All that is journaled between start and end are rows, one after the other; what is kept and sent follows from rows alone.
// H2. Each attempt reads rows until its own mark comes back; only then does anything run.
// H3. Models and tools run outside of everything that Restate records.
import type { InvocationHandle, ObjectContext, Serde } from '@restatedev/restate-sdk';
import { RetryableError, rpc } from '@restatedev/restate-sdk';
import { systemIds } from '../../lib/index.ts';
import { RuntimeClosedError } from '../core/runtime-closed-error.ts';
import { UnknownSessionError } from '../core/unknown-session-error.ts';
import { toFacts } from '../core/session.ts';
import type { LogEntry } from '../store/session-store.ts';
import type { TurnChange, TurnInput, TurnReport } from './protocol.ts';
import { rewriteOldChunks, toChunkKey } from './kept-chunks.ts';
import type { KeptHead } from './session-image.ts';
import { SessionImage } from './session-image.ts';
import type { SessionSource } from './session-source.ts';
import { SessionTurn } from './session-turn.ts';
import { ReportTimer } from './report-timer.ts';
import { createRowSerde } from './row-serde.ts';
import type { TurnEnd, TurnRow } from './turn-rows.ts';
import { TurnWriter } from './turn-rows.ts';
import { createTurnStore } from './turn-store.ts';
import type { SessionWorkerHost } from './worker-host.ts';

type Send<Body> = (ctx: unknown, body: Body) => Promise<unknown>;

/** The journal of one turn. */
class TurnJournal {
  readonly image: SessionImage;
  readonly #ctx: ObjectContext;
  readonly #host: SessionWorkerHost;
  readonly #serde: Serde<TurnRow> = createRowSerde();

  constructor(ctx: ObjectContext, host: SessionWorkerHost, image: SessionImage) {
    this.#ctx = ctx;
    this.#host = host;
    this.image = image;
  }

  static async open(ctx: ObjectContext, host: SessionWorkerHost): Promise<TurnJournal> {
    const kept = (await ctx.get<KeptHead>('head')) ?? undefined;
    const chunks = await Promise.all((kept?.chunks ?? []).map((from) => ctx.get<readonly LogEntry[]>(toChunkKey(from))));
    return new TurnJournal(
      ctx,
      host,
      new SessionImage(
        kept,
        chunks.flatMap((entries) => entries ?? []),
      ),
    );
  }

  /** Keeps what is made, or gives back what an earlier attempt has kept in this place. */
  record(make: () => TurnRow): Promise<TurnRow> {
    return this.#ctx.run('row', make, { serde: this.#serde });
  }

  /** Does what follows from a row. */
  async apply({ changes, reportBy, end }: TurnRow): Promise<void> {
    const { image } = this;
    for (const change of changes) {
      if (change.type === 'rewrite') await rewriteOldChunks(this.#ctx, change, image.first);
      image.apply(change);
      if (change.type === 'delete') this.#ctx.clearAll();
    }
    if (end !== undefined) this.#keep(end);
    if (end !== undefined) this.#report(undefined);
    // What is sent leaves the process only when something is awaited.
    else if (reportBy !== undefined) await this.#report(reportBy).invocationId;
    if (end?.goesOn === true) this.#sendTurn(0);
    if (end?.wake !== undefined) this.#sendTurn(end.wake.inMs);
  }

  #keep({ wake }: TurnEnd): void {
    if (wake !== undefined) this.image.wakeAt = wake.at;
    const { head, chunks } = this.image.takeKept();
    for (const [from, entries] of chunks) this.#ctx.set(toChunkKey(from), entries);
    this.#ctx.set('head', head);
  }

  #report(worker: string | undefined): InvocationHandle {
    const report: TurnReport = { changes: this.image.takeReport(), ...(worker !== undefined && { worker }) };
    const { desk } = this.#host.names;
    return this.#ctx.objectSendClient<{ report: Send<TurnReport> }>({ name: desk }, this.#ctx.key).report(report);
  }

  #sendTurn(delay: number): void {
    const { session } = this.#host.names;
    void this.#ctx.objectSendClient<{ turn: Send<TurnInput> }>({ name: session }, this.#ctx.key).turn({}, rpc.sendOpts<TurnInput>({ delay }));
  }
}

/** True if there is nothing to do in this turn. */
function isOver({ header, wakeAt, taken }: SessionImage, { mail }: TurnInput, now: number): boolean {
  const isTaken = mail === undefined || taken.includes(mail.num);
  const isAwake = wakeAt !== undefined && wakeAt <= now && header?.wakeAt !== undefined;
  return isTaken && header?.isOpen !== true && !isAwake;
}

/** Computes what the end of a turn leaves to others. */
function toEnd({ header, wakeAt }: SessionImage, now: number): TurnEnd {
  const at = header?.wakeAt;
  // Asked for once: the wake-up of an earlier turn is still on its way.
  const wake = at === undefined || (at === wakeAt && at > now) ? {} : { wake: { inMs: Math.max(0, at - now), at } };
  return { goesOn: header?.isOpen === true, ...wake };
}

/** Reads rows until the own mark comes back. Returns the number of attempts before this one, or undefined if the turn has ended. */
async function replay(journal: TurnJournal, mark: () => TurnRow): Promise<number | undefined> {
  const attempts = new Set<string>();
  const own = mark().by;
  for (;;) {
    const row = await journal.record(mark);
    await journal.apply(row);
    if (row.end !== undefined) return undefined;
    if (row.by === own) return attempts.size;
    attempts.add(row.by);
  }
}

/** Creates the handler of a worker. */
export function createTurnHandler(host: SessionWorkerHost): (ctx: ObjectContext, input: TurnInput) => Promise<void> {
  return async (ctx, input) => {
    host.assertOpen();
    const by = systemIds();
    const { clock } = host.services;
    const journal = await TurnJournal.open(ctx, host);
    const { image } = journal;
    const mark = (): TurnRow => ({ by, changes: [], ...(isOver(image, input, clock.now()) && { end: toEnd(image, clock.now()) }) });
    const earlier = await replay(journal, mark);
    if (earlier === undefined) return;
    await runTurn({ ctx, host, journal, by, input, isRepeated: earlier > 0 });
  };
}

interface TurnParts {
  readonly ctx: ObjectContext;
  readonly host: SessionWorkerHost;
  readonly journal: TurnJournal;
  readonly by: string;
  readonly input: TurnInput;
  readonly isRepeated: boolean;
}

function openTurn({ ctx, host, journal, isRepeated }: TurnParts, writer: TurnWriter): SessionTurn {
  const { image } = journal;
  const sessionId = ctx.key;
  const access = { image, write: (change: TurnChange) => writer.write(change), readOld: host.readEntries };
  const readSource = async (id: string): Promise<SessionSource> => {
    const stored = id === sessionId ? image.toStored() : await host.readHead(id);
    if (stored === undefined) throw new UnknownSessionError(id);
    return host.toSource(stored.header, toFacts(stored.header), stored.head);
  };
  return new SessionTurn({
    sessionId,
    image,
    store: createTurnStore(access),
    isRepeated,
    services: host.services,
    onFailed: (error) => writer.fail(error),
    readSource,
  });
}

/** Runs a turn, and records what it writes, until it is over. */
async function runTurn(parts: TurnParts): Promise<void> {
  const { ctx, host, journal, by, input, isRepeated } = parts;
  const { image } = journal;
  const writer = new TurnWriter(host.maxRowBytes);
  const turn = openTurn(parts, writer);
  const fail = (error: unknown): void => {
    writer.fail(error);
    turn.release(error);
    host.forget(ctx.key, turn);
  };
  ctx.request().attemptCompletedSignal.addEventListener('abort', () => fail(new RuntimeClosedError('its attempt is over', { isStored: true })));
  host.add(ctx.key, turn);
  if (input.mail !== undefined) turn.offer(input.mail);
  try {
    await host.whenHoldsKnown(input.holds ?? []);
    // Nobody has rung for this attempt yet.
    if (isRepeated) for (const mail of await host.readMails(ctx.key)) turn.offer(mail);
    const reports = new ReportTimer(host.services.clock, image, () => host.turnCount);
    let isDone = false;
    turn.run().then(
      () => {
        isDone = true;
        writer.wake();
      },
      (error: unknown) => writer.fail(error),
    );
    let steps = 0;
    for (;;) {
      if (!isDone) await writer.whenReady(reports.dueInMs);
      const next = writer.take();
      const end = isDone && writer.isEmpty && next.changes.length === 0;
      if (end) host.forget(ctx.key, turn);
      const isDue = reports.isDue || reports.isUrgent(next.changes);
      if (!end && !isDue && next.changes.length === 0) continue;
      const row = await journal.record(() => ({
        by,
        changes: next.changes,
        ...(end ? { end: toEnd(image, host.services.clock.now()) } : isDue && { reportBy: host.id }),
      }));
      await journal.apply(row);
      if (row.end !== undefined) return;
      if (row.reportBy !== undefined) reports.noteReport();
      else reports.noteRow();
      next.settle();
      steps += row.changes.reduce((sum, change) => sum + (change.type === 'write' ? (change.entries ?? []).filter(({ step }) => step !== undefined).length : 0), 0);
      if (steps >= host.maxSteps) turn.leave();
    }
  } catch (error) {
    fail(error);
    throw error instanceof RuntimeClosedError ? new RetryableError(error.message) : error;
  }
}
