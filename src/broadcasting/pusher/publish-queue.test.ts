import { describe, expect, it } from 'vitest';
import type { QueuedEvent } from './publish-queue.ts';
import { PublishQueue } from './publish-queue.ts';

let made = 0;
/** An event of 100 bytes, which counts as 200 in the queue. */
const toEvent = (kind: QueuedEvent['kind'], channel: string, seq = 0): QueuedEvent => ({
  kind,
  channel,
  sessionId: channel.toUpperCase(),
  seq,
  text: `${kind} ${channel} ${(made += 1)}`,
  bytes: 100,
});

const all = { maxBytes: 10_000, maxEvents: 100 };

describe('a queue of events', () => {
  it('gives events in order, and those of a channel to one request at a time (Q1)', () => {
    const queue = new PublishQueue(10_000);
    const [one, two, three] = [toEvent('stored', 'a', 1), toEvent('stored', 'b', 1), toEvent('stored', 'a', 2)];
    queue.add([one, two, three]);
    const first = queue.take({ maxBytes: 10_000, maxEvents: 1 });
    expect(first).toEqual([one]);
    expect(queue.take(all)).toEqual([two]);
    expect(queue.take(all)).toEqual([]);
    queue.release(first);
    expect(queue.take(all)).toEqual([three]);
  });

  it('takes as many events as fit, and skips a channel whose next one does not', () => {
    const queue = new PublishQueue(10_000);
    const large = { ...toEvent('stored', 'a', 2), bytes: 150 };
    const [one, after, other] = [toEvent('stored', 'a', 1), toEvent('stored', 'a', 3), toEvent('stored', 'b', 1)];
    queue.add([one, large, after, other]);
    expect(queue.take({ maxBytes: 201, maxEvents: 10 })).toEqual([one, other]);
  });

  it('puts back what did not arrive before everything else', () => {
    const queue = new PublishQueue(10_000);
    const [one, two, three] = [toEvent('stored', 'a', 1), toEvent('stored', 'a', 2), toEvent('stored', 'a', 3)];
    queue.add([one, two]);
    const taken = queue.take({ maxBytes: 100, maxEvents: 10 });
    queue.add([three]);
    queue.putBack(taken);
    expect(queue.take(all)).toEqual([one, two, three]);
    expect(queue.bytes).toBe(0);
  });

  it('drops pieces first, then heads, then stored envelopes, the oldest first (Q2)', () => {
    const queue = new PublishQueue(600);
    const stored = [1, 2, 3, 4].map((seq) => toEvent('stored', 'a', seq));
    const [piece, head] = [toEvent('piece', 'a'), toEvent('head', 'b', 9)];
    queue.add([piece, head, stored[0]!, stored[1]!]);
    expect([queue.size, queue.droppedPieces, queue.droppedEvents]).toEqual([3, 1, 0]);
    queue.add([stored[2]!]);
    expect([queue.size, queue.droppedPieces, queue.droppedEvents]).toEqual([3, 1, 0]);
    queue.add([stored[3]!]);
    expect([queue.size, queue.droppedPieces, queue.droppedEvents, queue.bytes]).toEqual([3, 1, 1, 600]);
    expect(queue.take(all)).toEqual(stored.slice(1));
  });

  it('remembers what channels have lost (Q3)', () => {
    const queue = new PublishQueue(100);
    queue.add([toEvent('piece', 'c'), toEvent('stored', 'a', 4), toEvent('head', 'a', 7), toEvent('stored', 'b', 2)]);
    expect(queue.takeLost()).toEqual([
      { channel: 'a', sessionId: 'A', seq: 7 },
      { channel: 'b', sessionId: 'B', seq: 2 },
    ]);
    expect(queue.takeLost()).toEqual([]);
  });
});
