import type { RunState } from '../step-by-step/index.ts';
import { approvalDigest } from './approval-digest.ts';
import type { LogEntry } from './session-store.ts';
import type { StoredEvent } from './stored-events.ts';
import { readEvents } from './stored-events.ts';

/** Where events are read from. */
interface EventSource {
  readonly sessionId: string;
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
  /** Rejects where there is no such session. */
  readonly open: () => Promise<void>;
  readonly read: (afterSeq: number) => Promise<readonly LogEntry[]>;
  readonly stateOf: () => Promise<RunState>;
  /** Calls back when more may be there; returns its unsubscribe. */
  readonly onMore: (call: () => void) => () => void;
  readonly isOver: () => boolean;
}

/** Wakes a reader; a call that comes while nobody sleeps is not lost. */
class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  readonly ring = (): void => {
    this.#rung = true;
    this.#wake?.();
  };

  async wait(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#rung = false;
  }
}

/** Whoever hears that something has to be approved can approve exactly that. */
async function withDigest(sessionId: string, event: StoredEvent): Promise<StoredEvent> {
  const { type, waitId, toolCallId, tool, args = null } = event;
  const id = waitId ?? toolCallId;
  if (type !== 'ToolApprovalRequested' || typeof id !== 'string' || typeof tool !== 'string') return event;
  return { ...event, digest: await approvalDigest(sessionId, { id, toolName: tool, args }) };
}

/** The stored events after a number, in order; then, where they are followed, what is stored later. */
export async function* followEvents(fromSeq: number, source: EventSource): AsyncGenerator<StoredEvent, void, undefined> {
  await source.open();
  const bell = new Bell();
  const leave = source.onMore(bell.ring);
  source.signal?.addEventListener('abort', bell.ring);
  const isOver = (): boolean => source.follow !== true || source.isOver() || source.signal?.aborted === true;
  try {
    let seq = fromSeq;
    for (;;) {
      const entries = await source.read(seq);
      for (const { events = '[{}]', lastSeq = seq } of entries) {
        for (const event of await readEvents(events, source.stateOf)) if (event.seq > seq) yield await withDigest(source.sessionId, event);
        seq = lastSeq;
      }
      if (entries.length > 0) continue;
      if (isOver()) return;
      await bell.wait();
    }
  } finally {
    leave();
    source.signal?.removeEventListener('abort', bell.ring);
  }
}
