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

export function createRunControl(hostSignal?: AbortSignal): RunControl {
  const onInterruption = new Set<() => void>();
  const onRequest = new Set<() => void>();
  let controller: AbortController | undefined;
  let stopRequest: StopRequest | undefined;
  let interruption: Interruption | undefined;
  let abortReason: unknown;

  const endingNow = (): Interruption | undefined => interruption ?? (stopRequest === undefined ? undefined : 'request');
  const call = (listeners: ReadonlySet<() => void>): void => {
    for (const listener of [...listeners]) listener();
  };
  const interrupt = (by: Interruption, reason: unknown): void => {
    // An abort by the host counts even after the deadline has passed.
    if (by === 'signal' || by === 'superseded') stopRequest ??= { by: 'signal', reason: cleanText(describeReason(reason)) };
    if (interruption !== undefined) {
      call(onRequest);
      return;
    }
    interruption = by;
    abortReason = reason;
    controller?.abort(reason);
    call(onInterruption);
    call(onRequest);
  };
  const onHostAbort = (): void => {
    interrupt(hostSignal?.reason instanceof Supersession ? 'superseded' : 'signal', hostSignal?.reason);
  };

  if (hostSignal?.aborted === true) onHostAbort();
  else hostSignal?.addEventListener('abort', onHostAbort, { once: true });

  return {
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        shareAbortListener(controller.signal);
        if (interruption !== undefined) controller.abort(abortReason);
      }
      return controller.signal;
    },
    get stopRequest() {
      return stopRequest;
    },
    get interruption() {
      return interruption;
    },
    get ending() {
      return endingNow();
    },
    requestStop: (reason) => {
      if (stopRequest !== undefined) return;
      const isText = typeof reason === 'string' && reason !== '';
      stopRequest = { by: 'request', reason: isText ? cleanText(reason) : 'stop was requested' };
      call(onRequest);
    },
    interrupt,
    onInterrupt: (listener) => subscribe(onInterruption, listener, interruption !== undefined),
    onEnding: (listener) => subscribe(onRequest, listener, endingNow() !== undefined),
    renew: () => {
      if (interruption !== 'deadline') return;
      if (stopRequest?.by === 'signal') {
        interruption = 'signal';
        return;
      }
      interruption = undefined;
      abortReason = undefined;
      controller = undefined;
    },
    close: () => {
      hostSignal?.removeEventListener('abort', onHostAbort);
      onInterruption.clear();
      onRequest.clear();
    },
  };
}

function subscribe(listeners: Set<() => void>, listener: () => void, happened: boolean): () => void {
  if (happened) listener();
  else listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
