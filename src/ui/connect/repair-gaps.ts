// Fetches what a view lacks.
// Z1. One request at a time. A gap that may fill by itself is given a moment.
import type { Clock } from '../../lib/index.ts';
import type { AgentView } from '../agent-view.ts';
import { fillGap, fillPayload } from '../reduce.ts';
import type { SessionApi } from './session-api.ts';

export interface GapRepairOptions {
  readonly api: SessionApi;
  readonly clock: Clock;
  readonly getView: () => AgentView;
  readonly setView: (view: AgentView) => void;
  /** A chunk of the open step is missing. */
  readonly onTextGap: () => void;
  readonly onProblem: (error: unknown) => void;
}

const patienceMs = 200;
const pauseMs = 5_000;

export class GapRepair {
  readonly #options: GapRepairOptions;
  readonly #leaving = new AbortController();
  #isBusy = false;

  constructor(options: GapRepairOptions) {
    this.#options = options;
  }

  /** Looks at the view again: something has changed. */
  check(delayMs: number = patienceMs): void {
    if (this.#isBusy || this.#leaving.signal.aborted || this.#options.getView().gaps.length === 0) return;
    this.#isBusy = true;
    const cancel = this.#options.clock.schedule(delayMs, () => void this.#repair());
    this.#leaving.signal.addEventListener('abort', cancel, { once: true });
  }

  close(): void {
    this.#leaving.abort();
  }

  async #repair(): Promise<void> {
    const { signal } = this.#leaving;
    let delayMs = patienceMs;
    try {
      await this.#fill(signal);
    } catch (error) {
      if (!signal.aborted) this.#options.onProblem(error);
      delayMs = pauseMs;
    }
    this.#isBusy = false;
    this.check(delayMs);
  }

  async #fill(signal: AbortSignal): Promise<void> {
    const { api, getView, setView, onTextGap } = this.#options;
    const { gaps } = getView();
    const gap = gaps.find(({ type }) => type !== 'text') ?? gaps[0];
    if (gap === undefined) return;
    if (gap.type === 'payload') {
      const data = await api.readPayload(gap.seq, gap.part, signal);
      setView(fillPayload(getView(), gap, data));
      return;
    }
    if (gap.type === 'text') {
      onTextGap();
      return;
    }
    const { envelopes, after } = await api.readPage(gap.after_seq, signal);
    // A page without news is the last one.
    const to_seq = after > gap.after_seq ? Math.min(after, gap.to_seq) : gap.to_seq;
    setView(fillGap(getView(), { ...gap, to_seq }, envelopes));
  }
}
