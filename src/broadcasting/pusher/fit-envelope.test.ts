import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventEnvelope } from '../index.ts';
import { fitEnvelope } from './fit-envelope.ts';

const ids = { timestamp: '2026-01-01T00:00:00.000Z', agent_id: 'a', session_id: 's', execution_id: 's/1', orchestrator: 'agent', part: 1 };
const channel = 'private-agent.s';

const toChunk = (data: EventEnvelope['data']): EventEnvelope => ({ ...ids, event: 'agent.stream.chunk', provisional: true, data });

function fit(envelope: EventEnvelope, limit = 3_000): readonly EventEnvelope[] {
  return fitEnvelope(channel, envelope, limit).map(({ text, bytes }) => {
    expect(bytes).toBe(Buffer.byteLength(text));
    expect(bytes).toBeLessThanOrEqual(limit);
    const event = JSON.parse(text) as { readonly channel: string; readonly name: string; readonly data: string };
    expect([event.channel, event.name]).toEqual([channel, envelope.event]);
    return JSON.parse(event.data) as EventEnvelope;
  });
}

/** Joins chunks as a view does: by their positions. */
function join(chunks: readonly EventEnvelope[], kind: 'text' | 'reasoning'): { readonly text: string; readonly end: number } {
  let [text, end] = ['', Number(chunks[0]?.data['offset'])];
  for (const { data } of chunks) {
    const shown = data[kind] as string;
    expect(data['offset']).toBe(end);
    text += shown;
    end += Number(data['length'] ?? shown.length);
  }
  return { text, end };
}

describe('fitEnvelope()', () => {
  it('leaves a small envelope as it is', () => {
    const envelope = toChunk({ text: 'Hello', step_number: 1, attempt: 1, answer: 1, offset: 7 });
    expect(fit(envelope)).toEqual([envelope]);
  });

  it('splits any text, never inside a character (F1)', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 200, maxLength: 2000, size: 'max' }),
        fc.constantFrom('text', 'reasoning'),
        (text, kind) => {
          const chunks = fit(toChunk({ [kind]: text, step_number: 1, attempt: 1, answer: 1, offset: 40 }));
          expect(join(chunks, kind)).toEqual({ text, end: 40 + text.length });
          for (const { data } of chunks) expect(data['length']).toBeUndefined();
        },
      ),
      { numRuns: 20 },
    );
  });

  it('keeps the length of a text of which some is hidden', () => {
    const shown = '"'.repeat(3000);
    const chunks = fit(toChunk({ text: shown, step_number: 1, attempt: 1, answer: 1, offset: 10, length: 2 }));
    expect(chunks.length).toBeGreaterThan(2);
    expect(join(chunks, 'text')).toEqual({ text: shown, end: 12 });
  });

  it('cuts anything else to a reference', () => {
    const envelope: EventEnvelope = {
      ...ids,
      event: 'agent.message',
      seq: 7,
      data: { message_id: 'm', role: 'assistant', text: '"\n'.repeat(4000) },
    };
    const [cut, ...more] = fit(envelope, 8_000);
    expect(more).toEqual([]);
    expect(cut).toMatchObject({
      seq: 7,
      data: { message_id: 'm', role: 'assistant', cut: ['text'], bytes: 16_047, ref: { session_id: 's', seq: 7, part: 1, path: '/data' } },
    });
  });

  it('keeps what a cut envelope said about the whole', () => {
    const ref = { session_id: 's', seq: 7, part: 1, path: '/data' };
    const short = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`field_${index}`, '"'.repeat(60)]));
    const [cut] = fit({ ...ids, event: 'agent.custom', seq: 7, data: { ...short, cut: ['text'], ref, bytes: 123_456 } });
    expect(cut?.data).toMatchObject({ bytes: 123_456, ref });
    expect(cut?.data['cut']).toContain('text');
  });

  it('returns nothing for what cannot be made small (F2)', () => {
    expect(fit({ ...ids, session_id: 's'.repeat(5000), event: 'agent.message', seq: 1, data: {} })).toEqual([]);
  });
});
