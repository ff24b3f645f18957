// Reports of a worker on their way to the desk.
// Owns:     which reports are sent together.
// Does not: decide when a session reports, or what happens to a report that was not stored.
// G1. One batch is on its way at a time: a busy worker sends few, large batches. A batch that took too long may still arrive later.
// G2. A report settles with true once the desk has stored it, and with false if the desk lacks what comes before it.
import { nextTurn } from '../../lib/index.ts';
import { fromWire } from '../index.ts';
import { cutBySize, measureChange } from './change-size.ts';
import type { ReportReply, TurnReport } from './protocol.ts';

/** Bytes of a batch. A server takes 32 MiB, and quotes in a text take two bytes. */
const maxBatch = 4 * 1024 * 1024;

interface QueuedReport {
  readonly report: TurnReport;
  readonly resolve: (isStored: boolean) => void;
  readonly reject: (error: unknown) => void;
}

interface SenderOptions {
  /** Calls the desk. */
  readonly send: (reports: readonly TurnReport[]) => Promise<readonly ReportReply[]>;
  /** Called if mails wait for a session that were posted before the desk knew the worker. */
  readonly onMail: (sessionId: string) => void;
}

const measureReport = ({ report: { changes } }: QueuedReport): number => changes.reduce((sum, change) => sum + measureChange(change), 0);

export class ReportSender {
  readonly #options: SenderOptions;
  #queue: readonly QueuedReport[] = [];
  #isSending = false;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Sends a report; settles when the desk has answered. Rejects if the caller stops waiting. */
  async send(report: TurnReport, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    let withdraw = (): void => undefined;
    try {
      return await new Promise<boolean>((resolve, reject) => {
        const queued = { report, resolve, reject };
        this.#queue = [...this.#queue, queued];
        withdraw = () => {
          this.#queue = this.#queue.filter((each) => each !== queued);
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', withdraw, { once: true });
        if (!this.#isSending) void this.#sendAll();
      });
    } finally {
      signal.removeEventListener('abort', withdraw);
    }
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    // Reports of one turn of the event loop go together.
    await nextTurn();
    while (this.#queue.length > 0) {
      const [batch = []] = cutBySize(this.#queue, maxBatch, measureReport);
      this.#queue = this.#queue.slice(batch.length);
      await this.#sendBatch(batch);
    }
    this.#isSending = false;
  }

  async #sendBatch(batch: readonly QueuedReport[]): Promise<void> {
    try {
      const replies = await this.#options.send(batch.map(({ report }) => report));
      for (const [index, { report, resolve, reject }] of batch.entries()) {
        const reply = replies[index] ?? { isWhole: false, hasMail: false };
        if ('error' in reply) reject(fromWire(reply.error));
        else {
          resolve(reply.isWhole);
          if (reply.hasMail) this.#options.onMail(report.sessionId);
        }
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
