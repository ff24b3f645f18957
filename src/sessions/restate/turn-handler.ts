// The handler that runs one turn of a session.
// Owns:     the rows that Restate records for a turn, and everything that is stored, sent and scheduled because of them.
// Does not: know what a session does in its turn.
// H1. Between start and end, only rows are journaled, one after the other. Everything stored and sent depends on rows alone.
// H2. Each attempt reads rows until its own first row comes back; only then does anything run.
// H3. Models and tools run outside the steps that Restate records.
import type { InvocationHandle, ObjectContext, Serde } from '@restatedev/restate-sdk';
import { RetryableError, rpc } from '@restatedev/restate-sdk';
import { systemIds } from '../../lib/index.ts';
import type { LogEntry } from '../index.ts';
import { RuntimeClosedError, toFacts, UnknownSessionError } from '../index.ts';
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
  /** The worker that the last report of this turn named. */
  #reportedBy: string | undefined;

  constructor(ctx: ObjectContext, host: SessionWorkerHost, image: SessionImage) {
    this.#ctx = ctx;
    this.#host = host;
    this.image = image;
  }

  static async open(ctx: ObjectContext, host: SessionWorkerHost): Promise<TurnJournal> {
    const kept = (await ctx.get<KeptHead>('head')) ?? undefined;
    const entries: LogEntry[] = [];
    // One after the other: the SDK ends attempts that await several things with Promise.all.
    for (const from of kept?.chunks ?? []) entries.push(...((await ctx.get<readonly LogEntry[]>(toChunkKey(from))) ?? []));
    return new TurnJournal(ctx, host, new SessionImage(kept, entries));
  }

  /** Records a value, or returns the value that an earlier attempt recorded at this position. */
  record(make: () => TurnRow): Promise<TurnRow> {
    return this.#ctx.run('row', make, { serde: this.#serde });
  }

  /** Stores, sends and schedules what a row requires. */
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
    else if (reportBy !== undefined) await this.#report(reportBy).at(-1)?.invocationId;
    if (end?.goesOn === true) this.#sendTurn(0);
    if (end?.wake !== undefined) this.#sendTurn(end.wake.inMs);
  }

  #keep({ wake }: TurnEnd): void {
    if (wake !== undefined) this.image.wakeAt = wake.at;
    const { head, chunks } = this.image.takeKept();
    for (const [from, entries] of chunks) this.#ctx.set(toChunkKey(from), entries);
    this.#ctx.set('head', head);
  }

  #report(worker: string | undefined): readonly InvocationHandle[] {
    const from = worker === undefined ? {} : { worker, isKnown: worker === this.#reportedBy };
    this.#reportedBy = worker;
    const { desk } = this.#host.names;
    const client = this.#ctx.objectSendClient<{ report: Send<TurnReport> }>({ name: desk }, this.#ctx.key);
    return this.image.takeReports().map((changes) => client.report({ changes, ...from }));
  }

  #sendTurn(delay: number): void {
    const { session } = this.#host.names;
    void this.#ctx
      .objectSendClient<{ turn: Send<TurnInput> }>({ name: session }, this.#ctx.key)
      .turn({}, rpc.sendOpts<TurnInput>({ delay }));
  }
}

/** True if there is nothing to do in this turn. */
function isOver({ header, wakeAt, taken }: SessionImage, { mail }: TurnInput, now: number): boolean {
  const isTaken = mail === undefined || taken.includes(mail.num);
  const isAwake = wakeAt !== undefined && wakeAt <= now && header?.wakeAt !== undefined;
  return isTaken && header?.isOpen !== true && !isAwake;
}

/** Delay before a session that a worker could not read is given to one again. */
const unreadableMs = 1000;

/** Computes when a session that could not be read is tried again. However many turns find it so, one comes back. */
function toUnreadableEnd({ wakeAt = 0 }: SessionImage, now: number): TurnEnd {
  const isAsked = wakeAt > now && wakeAt <= now + unreadableMs;
  return { goesOn: false, ...(!isAsked && { wake: { inMs: unreadableMs, at: now + unreadableMs } }) };
}

/** Computes what the end of a turn leaves to others. */
function toEnd({ header, wakeAt }: SessionImage, now: number): TurnEnd {
  const at = header?.wakeAt;
  // Scheduled once: the wake-up of an earlier turn is still pending.
  const wake = at === undefined || (at === wakeAt && at > now) ? {} : { wake: { inMs: Math.max(0, at - now), at } };
  return { goesOn: header?.isOpen === true, ...wake };
}

/** Reads rows until this attempt's first row comes back. Returns the number of earlier attempts, or undefined if the turn has ended. */
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
    // Whatever else stands in its entry is small.
    maxSnapshotSize: host.maxRowBytes * 0.9,
    isRepeated,
    services: host.services,
    onFailed: (error) => writer.fail(error),
    readSource,
  });
}

/** Counts the steps that a row has recorded. */
const countSteps = ({ changes }: TurnRow): number =>
  changes.flatMap((change) => (change.type === 'write' ? (change.entries ?? []) : [])).filter(({ step }) => step !== undefined).length;

/** Records the writes of a turn, row by row, until it is over. */
class TurnPump {
  readonly #parts: TurnParts;
  readonly #writer: TurnWriter;
  readonly #reports: ReportTimer;
  readonly turn: SessionTurn;
  #isDone = false;
  #steps = 0;

  constructor(parts: TurnParts) {
    const { host, journal } = parts;
    this.#parts = parts;
    this.#writer = new TurnWriter(host.maxRowBytes);
    this.#reports = new ReportTimer(host.services.clock, journal.image, () => host.turnCount);
    this.turn = openTurn(parts, this.#writer);
  }

  /** Ends the attempt: nothing more is recorded. */
  fail(error: unknown): void {
    const { ctx, host } = this.#parts;
    this.#writer.fail(error);
    this.turn.release(error);
    host.forget(ctx.key, this.turn);
  }

  async run(): Promise<void> {
    this.turn.run().then(
      () => {
        this.#isDone = true;
        this.#writer.wake();
      },
      (error: unknown) => this.#writer.fail(error),
    );
    while (!(await this.#recordNext()));
  }

  #toEnd(): TurnEnd {
    const { host, journal } = this.#parts;
    const now = host.services.clock.now();
    const { isOpen = false, wakeAt = Infinity } = journal.image.header ?? {};
    return this.turn.isUnreadable && (isOpen || wakeAt <= now) ? toUnreadableEnd(journal.image, now) : toEnd(journal.image, now);
  }

  /** Records the next row, if there is one. Returns true once the turn has ended. */
  async #recordNext(): Promise<boolean> {
    const { ctx, host, journal, by } = this.#parts;
    if (!this.#isDone) await this.#writer.whenReady(this.#reports.dueInMs);
    const { changes, settle } = this.#writer.take();
    const isEnd = this.#isDone && this.#writer.isEmpty && changes.length === 0;
    const isReported = !isEnd && (this.#reports.isDue || this.#reports.isUrgent(changes));
    if (!isEnd && !isReported && changes.length === 0) return false;
    // Mails that come from here on have a turn of their own.
    if (isEnd) host.forget(ctx.key, this.turn);
    const row = await journal.record(() => ({
      by,
      changes,
      ...(isReported && { reportBy: host.id }),
      ...(isEnd && { end: this.#toEnd() }),
    }));
    await journal.apply(row);
    settle();
    if (isEnd) return true;
    if (isReported) this.#reports.noteReport();
    else this.#reports.noteRow();
    this.#steps += countSteps(row);
    if (this.#steps >= host.maxSteps) this.turn.leave();
    return false;
  }
}

/** Runs a turn until it is over. */
async function runTurn(parts: TurnParts): Promise<void> {
  const { ctx, host, input, isRepeated } = parts;
  const pump = new TurnPump(parts);
  const onEnded = (): void => pump.fail(new RuntimeClosedError('its attempt is over', { isStored: true }));
  ctx.request().attemptCompletedSignal.addEventListener('abort', onEnded);
  host.add(ctx.key, pump.turn);
  if (input.mail !== undefined) pump.turn.offer(input.mail);
  try {
    await host.whenHoldsKnown(input.holds ?? []);
    // The bell has not rung for this attempt yet.
    if (isRepeated) for (const mail of await host.readMails(ctx.key)) pump.turn.offer(mail);
    await pump.run();
  } catch (error) {
    pump.fail(error);
    throw error instanceof RuntimeClosedError ? new RetryableError(error.message) : error;
  }
}
