// The handler that runs one turn of a session.
// Owns:     the rows that Restate records for a turn, and everything that is stored, sent and scheduled because of them.
// Does not: know what a session does in its turn.
// H1. Between start and end, only rows are journaled, one after the other. Everything stored and sent depends on rows alone.
// H2. Each attempt reads rows until its own first row comes back; only then does anything run.
// H3. Models and tools run outside the steps that Restate records.
import type { ObjectContext, Serde } from '@restatedev/restate-sdk';
import { RetryableError, rpc } from '@restatedev/restate-sdk';
import { systemClock, systemIds } from '../../lib/index.ts';
import type { LogEntry } from '../index.ts';
import { RuntimeClosedError, toFacts, UnknownSessionError } from '../index.ts';
import type { TurnChange, TurnInput, TurnReport } from './protocol.ts';
import { rewriteOldChunks, toChunkKey, toRequestKey } from './kept-chunks.ts';
import type { KeptHead } from './session-image.ts';
import { SessionImage } from './session-image.ts';
import type { SessionSource } from './session-source.ts';
import { SessionTurn } from './session-turn.ts';
import { createRowSerde } from './row-serde.ts';
import type { TurnEnd } from './turn-end.ts';
import { planEnd, planSkip } from './turn-end.ts';
import type { TurnRow } from './turn-rows.ts';
import { TurnWriter } from './turn-rows.ts';
import { TurnReporter } from './turn-reporter.ts';
import { createTurnStore } from './turn-store.ts';
import type { SessionWorkerHost } from './worker-host.ts';

type Send<Body> = (ctx: unknown, body: Body) => Promise<unknown>;

/** A call of the handler. */
interface TurnCall {
  readonly ctx: ObjectContext;
  readonly host: SessionWorkerHost;
  readonly input: TurnInput;
}

/** The journal of one turn. */
class TurnJournal {
  readonly image: SessionImage;
  readonly #ctx: ObjectContext;
  readonly #host: SessionWorkerHost;
  readonly #input: TurnInput;
  readonly #serde: Serde<TurnRow> = createRowSerde();

  private constructor({ ctx, host, input }: TurnCall, image: SessionImage) {
    this.#ctx = ctx;
    this.#host = host;
    this.#input = input;
    this.image = image;
  }

  static async open(call: TurnCall): Promise<TurnJournal> {
    const { ctx } = call;
    const kept = (await ctx.get<KeptHead>('head')) ?? undefined;
    const entries: LogEntry[] = [];
    // One after the other: the SDK ends attempts that await several things with Promise.all.
    for (const from of kept?.chunks ?? []) entries.push(...((await ctx.get<readonly LogEntry[]>(toChunkKey(from))) ?? []));
    return new TurnJournal(call, new SessionImage(kept, entries));
  }

  /** Records a value, or returns the value that an earlier attempt recorded at this position. */
  record(make: () => TurnRow): Promise<TurnRow> {
    return this.#ctx.run('row', make, { serde: this.#serde });
  }

  /** Stores, sends and schedules what a row requires. */
  async apply({ changes, end }: TurnRow): Promise<void> {
    const { image } = this;
    for (const change of changes) {
      if (change.type === 'rewrite') await rewriteOldChunks(this.#ctx, change, image.first);
      image.apply(change);
      if (change.type === 'delete') this.#ctx.clearAll();
    }
    if (end === undefined) return;
    this.#keep(end);
    if (end.reportsLate === true) this.#reportLate();
    this.#sendTurns(end);
  }

  #keep({ wake, failedTurns = 0, keepsMails = false }: TurnEnd): void {
    if (wake !== undefined) this.image.wakeAt = wake.at;
    this.image.failedTurns = failedTurns;
    this.image.keepsMails = keepsMails;
    const { head, chunks, requests } = this.image.takeKept();
    for (const [from, entries] of chunks) this.#ctx.set(toChunkKey(from), entries);
    for (const [requestId, n] of requests) this.#ctx.set(toRequestKey(requestId), n);
    this.#ctx.set('head', head);
  }

  /** Sends everything by the server, which keeps it until the desk can take it. */
  #reportLate(): void {
    const { desk } = this.#host.names;
    const sessionId = this.#ctx.key;
    const client = this.#ctx.objectSendClient<{ report: Send<TurnReport> }>({ name: desk }, sessionId);
    for (const changes of this.image.listReports()) void client.report({ sessionId, changes });
  }

  #sendTurns({ goesOn, wake, repeatInMs }: TurnEnd): void {
    if (goesOn) this.#sendTurn({}, 0);
    if (wake !== undefined) this.#sendTurn({ wakeAt: wake.at }, wake.inMs);
    if (repeatInMs !== undefined) this.#sendTurn({ ...this.#input, isRepeated: true }, repeatInMs);
  }

  #sendTurn(input: TurnInput, delay: number): void {
    const { session } = this.#host.names;
    void this.#ctx
      .objectSendClient<{ turn: Send<TurnInput> }>({ name: session }, this.#ctx.key)
      .turn(input, rpc.sendOpts<TurnInput>({ delay }));
  }
}

/** Reads rows until this attempt's first row comes back. Returns the number of earlier attempts, or undefined if the turn has ended. */
async function replay(
  journal: TurnJournal,
  own: string,
  planFirst: (attempts: number) => Pick<TurnRow, 'end'>,
): Promise<number | undefined> {
  const attempts = new Set<string>();
  for (;;) {
    const row = await journal.record(() => ({ by: own, changes: [], ...planFirst(attempts.size) }));
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
    const journal = await TurnJournal.open({ ctx, host, input });
    const { image } = journal;
    const planFirst = (attempts: number): Pick<TurnRow, 'end'> => {
      const end = planSkip(image, { now: host.services.clock.now(), input }, attempts);
      return end === undefined ? {} : { end };
    };
    const earlier = await replay(journal, by, planFirst);
    if (earlier === undefined) return;
    await runTurn({ ctx, host, journal, by, input, isRepeated: earlier > 0 || input.isRepeated === true });
  };
}

interface TurnParts extends TurnCall {
  readonly journal: TurnJournal;
  readonly by: string;
  readonly isRepeated: boolean;
}

function openTurn({ ctx, host, journal, isRepeated }: TurnParts, writer: TurnWriter): SessionTurn {
  const { image } = journal;
  const sessionId = ctx.key;
  const access = {
    image,
    write: (change: TurnChange) => writer.write(change),
    readOld: host.readEntries,
    findOldRequest: (requestId: string) => host.findRequest(sessionId, requestId),
  };
  const readSource = async (id: string): Promise<SessionSource> => {
    const stored = id === sessionId ? image.toStored() : await host.readHead(id);
    if (stored === undefined) throw new UnknownSessionError(id);
    return host.toSource(stored.header, toFacts(stored.header), stored.head);
  };
  return new SessionTurn({
    sessionId,
    image,
    store: createTurnStore(access),
    // The rest of the entry is small.
    maxSnapshotBytes: host.maxRecordBytes * 0.9,
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
  readonly #reporter: TurnReporter;
  readonly turn: SessionTurn;
  #isDone = false;
  #steps = 0;

  constructor(parts: TurnParts) {
    const { ctx, host, journal } = parts;
    this.#parts = parts;
    this.#writer = new TurnWriter(host.maxRecordBytes);
    this.#reporter = new TurnReporter({
      clock: systemClock,
      sessionId: ctx.key,
      worker: host.id,
      image: journal.image,
      send: host.sendReport,
      countTurns: () => host.turnCount,
      onProblem: (error) => host.services.report(error, `the copy of session ${ctx.key}`),
    });
    this.turn = openTurn(parts, this.#writer);
  }

  /** Ends the attempt: nothing more is recorded. */
  fail(error: unknown): void {
    const { ctx, host } = this.#parts;
    this.#writer.fail(error);
    this.#reporter.stop();
    this.turn.release(error);
    host.forget(ctx.key, this.turn);
    // What the server has given up may never settle.
    host.end(this.turn);
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

  #planEnd(isReported: boolean): TurnEnd {
    const { host, journal, input } = this.#parts;
    const { hasFailed, keepsMails, leavesMails } = this.turn;
    const end = planEnd(journal.image, { now: host.services.clock.now(), input, hasFailed, keepsMails, leavesMails });
    return isReported ? end : { ...end, reportsLate: true };
  }

  /** Records the next row, if there is one. Returns true once the turn has ended. */
  async #recordNext(): Promise<boolean> {
    if (!this.#isDone) await this.#writer.whenReady();
    const { changes, settle } = this.#writer.take();
    if (changes.length > 0) {
      const isUrgent = this.#reporter.isUrgent(changes);
      await this.#record({ changes });
      await this.#reporter.note(isUrgent);
      settle();
      return false;
    }
    if (!this.#isDone || !this.#writer.isEmpty) return false;
    await this.#recordEnd();
    return true;
  }

  async #record(row: Omit<TurnRow, 'by'>): Promise<void> {
    const { host, journal, by } = this.#parts;
    const recorded = await journal.record(() => ({ by, ...row }));
    await journal.apply(recorded);
    this.#steps += countSteps(recorded);
    if (this.#steps >= host.stepsPerInvocation) this.turn.leave();
  }

  async #recordEnd(): Promise<void> {
    const { ctx, host } = this.#parts;
    // Mails that come from here on have a turn of their own.
    host.forget(ctx.key, this.turn);
    const isReported = await this.#reporter.finish();
    await this.#record({ changes: [], end: this.#planEnd(isReported) });
  }
}

/** Runs a turn until it is over. */
async function runTurn(parts: TurnParts): Promise<void> {
  const { ctx, host, input, isRepeated, journal } = parts;
  const pump = new TurnPump(parts);
  const onEnded = (): void => pump.fail(new RuntimeClosedError('its attempt is over', { isStored: true }));
  ctx.request().attemptCompletedSignal.addEventListener('abort', onEnded);
  host.add(ctx.key, pump.turn);
  for (const mail of input.mails ?? []) pump.turn.offer(mail);
  try {
    await host.whenHoldsKnown(input.holds ?? []);
    // Nobody has told this attempt about them; mails that were kept are applied before later ones.
    if (isRepeated || journal.image.keepsMails || input.hasMore === true)
      for (const mail of await host.readMails(ctx.key)) pump.turn.offer(mail);
    await pump.run();
  } catch (error) {
    pump.fail(error);
    throw error instanceof RuntimeClosedError ? new RetryableError(error.message) : error;
  } finally {
    host.end(pump.turn);
  }
}
