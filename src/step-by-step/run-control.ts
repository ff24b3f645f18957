// Ways to end a run, and the signal that work in progress receives.
// Owns:     the stop request, the interruption, the signal that work receives.
// Does not: judge. It leaves findings; criteria decide.
// R1. The first interruption counts; later ones change nothing. Only a deadline can be renewed, unless the host has aborted since.
// R2. After `close` no listener of ours is left on the host's signal.
import type { StopRequest } from '../continuation/index.ts';
import { cleanText, shareAbortListener } from '../lib/index.ts';
import type { Interruption } from './step.ts';
import { Supersession } from './supersession.ts';

export interface RunControl {
  /** Aborts when the run is interrupted. Created on first use. */
  readonly signal: AbortSignal;
  readonly stopRequest: StopRequest | undefined;
  readonly interruption: Interruption | undefined;
  /** Reason why no further step may start: an interruption, or a request to stop. */
  readonly ending: Interruption | undefined;
  /** Ends the run at the next boundary. */
  requestStop(reason: string): void;
  /** Interrupts work in progress. */
  interrupt(by: Interruption, reason: unknown): void;
  /** Calls back at an interruption, at once if there was one; returns its unsubscribe. */
  onInterrupt(call: () => void): () => void;
  /** Calls back at an interruption or a request to stop, at once if there was one; returns its unsubscribe. */
  onEnding(call: () => void): () => void;
  /** Lets work start again after a deadline; any other interruption stays. */
  renew(): void;
  close(): void;
}

function describeReason(reason: unknown): string {
  if (typeof reason === 'string' && reason !== '') return reason;
  if (reason instanceof Supersession) return reason.message;
  if (reason instanceof Error && reason.name !== 'AbortError' && reason.message !== '') return reason.message;
  return 'aborted by the signal';
}

/** Listeners of one thing; most runs have none. */
class Listeners {
  #calls: Set<() => void> | undefined;

  add(listener: () => void): () => void {
    this.#calls ??= new Set();
    this.#calls.add(listener);
    return () => {
      this.#calls?.delete(listener);
    };
  }

  call(): void {
    for (const listener of [...(this.#calls ?? [])]) listener();
  }

  clear(): void {
    this.#calls = undefined;
  }
}

const nothing = (): void => undefined;

/** A class, because its getters are read many times in every step. */
class OwnControl implements RunControl {
  readonly #hostSignal: AbortSignal | undefined;
  readonly #onInterruption = new Listeners();
  readonly #onRequest = new Listeners();
  #onHostAbort: (() => void) | undefined;
  #controller: AbortController | undefined;
  #stopRequest: StopRequest | undefined;
  #interruption: Interruption | undefined;
  #abortReason: unknown;

  constructor(hostSignal: AbortSignal | undefined) {
    this.#hostSignal = hostSignal;
    if (hostSignal === undefined) return;
    const interrupt = (): void => {
      this.interrupt(hostSignal.reason instanceof Supersession ? 'superseded' : 'signal', hostSignal.reason);
    };
    if (hostSignal.aborted) {
      interrupt();
      return;
    }
    this.#onHostAbort = interrupt;
    hostSignal.addEventListener('abort', interrupt, { once: true });
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      shareAbortListener(this.#controller.signal);
      if (this.#interruption !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }
  get stopRequest(): StopRequest | undefined {
    return this.#stopRequest;
  }
  get interruption(): Interruption | undefined {
    return this.#interruption;
  }
  get ending(): Interruption | undefined {
    return this.#interruption ?? (this.#stopRequest === undefined ? undefined : 'request');
  }

  requestStop(reason: string): void {
    if (this.#stopRequest !== undefined) return;
    const isText = typeof reason === 'string' && reason !== '';
    this.#stopRequest = { by: 'request', reason: isText ? cleanText(reason) : 'stop was requested' };
    this.#onRequest.call();
  }

  interrupt(by: Interruption, reason: unknown): void {
    // An abort by the host counts even after the deadline has passed.
    if (by === 'signal' || by === 'superseded') this.#stopRequest ??= { by: 'signal', reason: cleanText(describeReason(reason)) };
    if (this.#interruption === undefined) {
      this.#interruption = by;
      this.#abortReason = reason;
      this.#controller?.abort(reason);
      this.#onInterruption.call();
    }
    this.#onRequest.call();
  }

  onInterrupt(listener: () => void): () => void {
    if (this.#interruption === undefined) return this.#onInterruption.add(listener);
    listener();
    return nothing;
  }

  onEnding(listener: () => void): () => void {
    if (this.ending === undefined) return this.#onRequest.add(listener);
    listener();
    return nothing;
  }

  renew(): void {
    if (this.#interruption !== 'deadline') return;
    if (this.#stopRequest?.by === 'signal') {
      this.#interruption = 'signal';
      return;
    }
    this.#interruption = undefined;
    this.#abortReason = undefined;
    this.#controller = undefined;
  }

  close(): void {
    if (this.#onHostAbort !== undefined) this.#hostSignal?.removeEventListener('abort', this.#onHostAbort);
    this.#onInterruption.clear();
    this.#onRequest.clear();
  }
}

/** Creates the control of a run. The signal of its host interrupts it. */
export function createRunControl(hostSignal?: AbortSignal): RunControl {
  return new OwnControl(hostSignal);
}
