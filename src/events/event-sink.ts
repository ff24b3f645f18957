import { defaultRedactor, toCanonical } from '../lib/index.ts';
import type { BaseEvent } from './base-event.ts';

/** Receiver of events. Emitting is never awaited and never fails. */
export interface EventSink<Event extends BaseEvent = BaseEvent> {
  emit(event: Event): void;
}

/** Receives errors of listeners and of other work that nobody awaits. */
export type ProblemReporter = (error: unknown, where: string) => void;

function describeError(error: unknown): string {
  if (!(error instanceof Error)) {
    const canonical = toCanonical(error);
    return canonical.ok ? JSON.stringify(canonical.value) : String(error);
  }
  const words = error.stack ?? error.message;
  return error.cause === undefined ? words : `${words}\n  because of ${describeError(error.cause)}`;
}

/** Writes the problem to the console, without its secrets: silence would hide it. */
export const reportToConsole: ProblemReporter = (error, where) => {
  // eslint-disable-next-line no-console -- the last resort, when the host gave no reporter
  console.error(`stepline: ${where} failed; nothing else was disturbed. ${defaultRedactor.text(describeError(error))}`);
};
