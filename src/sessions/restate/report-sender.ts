// Reports of a worker on their way to the desk.
// Owns:     which reports are sent together.
// Does not: decide when a session reports, or what happens to a report that was not stored.
// G1. One batch is on its way at a time, so the reports of a session arrive in order, and a busy worker sends few, large batches.
// G2. A report settles once the desk has stored it.
import { nextTurn } from '../../lib/index.ts';
import type { Mail } from '../index.ts';
import { fromWire } from '../index.ts';
import { cutBySize, measureChange } from './change-size.ts';
import type { ReportReply, TurnReport } from './protocol.ts';

/** Bytes of a batch. A server takes 32 MiB, and quotes in a text take two bytes. */
const maxBatch = 4 * 1024 * 1024;

interface QueuedReport {
  readonly report: TurnReport;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface SenderOptions {
  /** Calls the desk. */
  readonly send: (reports: readonly TurnReport[]) => Promise<readonly ReportReply[]>;
  /** Receives mails that were posted before the desk knew the worker. */
  readonly onMail: (mail: Mail) => void;
}

const measureReport = ({ report: { changes } }: QueuedReport): number => changes.reduce((sum, change) => sum + measureChange(change), 0);

export class ReportSender {
  readonly #options: SenderOptions;
  #queue: readonly QueuedReport[] = [];
  #isSending = false;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Sends a report; settles when the desk has stored it. Rejects if it was withdrawn before it was sent. */
  send(report: TurnReport, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const queued = { report, resolve, reject };
      this.#queue = [...this.#queue, queued];
      const withdraw = (): void => {
        this.#queue = this.#queue.filter((each) => each !== queued);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', withdraw, { once: true });
      if (!this.#isSending) void this.#sendAll();
    });
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
      for (const [index, { resolve, reject }] of batch.entries()) {
        const reply = replies[index] ?? { mails: [] };
        if ('error' in reply) reject(fromWire(reply.error));
        else resolve();
        if ('mails' in reply) for (const mail of reply.mails) this.#options.onMail(mail);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
