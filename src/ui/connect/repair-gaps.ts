// Fetches what a view lacks.
// Z1. One request at a time, the newest first: a long session is filled backwards. A gap that may fill by itself is given a moment.
// Z2. If the server refuses for good, nothing more is asked for until the page wakes up.
import type { Clock } from '../../lib/index.ts';
import type { AgentView, ViewGap } from '../agent-view.ts';
import { fillGap, fillPayload } from '../reduce.ts';
import { RequestFailedError } from './request-failed-error.ts';
import type { SessionApi } from './session-api.ts';
import { isTemporary } from './session-api.ts';

export interface GapRepairOptions {
  readonly api: SessionApi;
  readonly clock: Clock;
  readonly getView: () => AgentView;
  readonly setView: (view: AgentView) => void;
  /** A chunk of the open step is missing. */
  readonly onTextGap: () => void;
  readonly onProblem: (error: unknown) => void;
}

/** A gap that can be fetched. */
type StoredGap = Exclude<ViewGap, { type: 'text' }>;

const patienceMs = 200;
const pauseMs = 5_000;
const pageSize = 500;

const getLast = (gap: StoredGap): number => (gap.type === 'events' ? gap.to_seq : gap.seq);

const toKey = ({ seq, part }: Extract<ViewGap, { type: 'payload' }>): string => `${seq}.${part}`;

export class GapRepair {
  readonly #options: GapRepairOptions;
  readonly #leaving = new AbortController();
  /** Payloads that the server does not have. */
  readonly #gone = new Set<string>();
  #isBusy = false;
  #isRefused = false;

  constructor(options: GapRepairOptions) {
    this.#options = options;
  }

  /** Looks at the view again: something has changed. */
  check(delayMs: number = patienceMs): void {
    if (this.#isBusy || this.#isRefused || this.#leaving.signal.aborted || !this.#hasGaps()) return;
    this.#isBusy = true;
    const cancel = this.#options.clock.schedule(delayMs, () => {
      this.#leaving.signal.removeEventListener('abort', cancel);
      void this.#repair();
    });
    this.#leaving.signal.addEventListener('abort', cancel, { once: true });
  }

  /** The page woke up: asks again, whatever the server said before. */
  wake(): void {
    this.#isRefused = false;
    this.check();
  }

  close(): void {
    this.#leaving.abort();
  }

  #hasGaps(): boolean {
    const { gaps } = this.#options.getView();
    return gaps.some((gap) => gap.type === 'text') || this.#findNewest() !== undefined;
  }

  #findNewest(): StoredGap | undefined {
    let newest: StoredGap | undefined;
    for (const gap of this.#options.getView().gaps) {
      if (gap.type === 'text' || (gap.type === 'payload' && this.#gone.has(toKey(gap)))) continue;
      if (newest === undefined || getLast(gap) > getLast(newest)) newest = gap;
    }
    return newest;
  }

  async #repair(): Promise<void> {
    const { signal } = this.#leaving;
    const { getView, onTextGap, onProblem } = this.#options;
    let delayMs = patienceMs;
    if (getView().gaps.some(({ type }) => type === 'text')) onTextGap();
    try {
      const gap = this.#findNewest();
      if (gap !== undefined) {
        await this.#fill(gap, signal);
        delayMs = 0;
      }
    } catch (error) {
      if (signal.aborted) return;
      onProblem(error);
      this.#isRefused = !isTemporary(error);
      delayMs = pauseMs;
    }
    this.#isBusy = false;
    this.check(delayMs);
  }

  async #fill(gap: StoredGap, signal: AbortSignal): Promise<void> {
    const { api, getView, setView } = this.#options;
    if (gap.type === 'payload') {
      const data = await api.readPayload(gap.seq, gap.part, signal).catch((error: unknown) => {
        if (!(error instanceof RequestFailedError) || error.serverCode !== 'not-found') throw error;
        this.#gone.add(toKey(gap));
        return undefined;
      });
      if (data !== undefined) setView(fillPayload(getView(), gap, data));
      return;
    }
    const { after_seq, to_seq } = gap;
    const { envelopes, from } = await api.readBefore(to_seq + 1, { count: Math.min(pageSize, to_seq - after_seq), signal });
    setView(fillGap(getView(), { type: 'events', after_seq: from - 1, to_seq }, envelopes));
  }
}
