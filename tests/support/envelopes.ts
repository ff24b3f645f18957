import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/lib/index.ts';
import type { Envelope, EnvelopeTransport, EventEnvelope } from '../../src/broadcasting/index.ts';
import { expect } from 'vitest';
import { validateJson } from '../../src/tools/validate-json.ts';

/** The schema that the package ships. */
export const envelopeSchema = JSON.parse(readFileSync(new URL('../../envelope.schema.json', import.meta.url), 'utf8')) as JsonObject;

/** Describes why an envelope does not fit the schema; empty if it does. */
export function toEnvelopeProblems(envelope: Envelope): readonly string[] {
  // What JSON cannot hold is not on the wire.
  const wire = JSON.parse(JSON.stringify(envelope)) as JsonObject;
  return validateJson(envelopeSchema, wire).map((issue) => `${envelope.event}: ${JSON.stringify(issue)}`);
}

/** A transport that keeps what it is given, and checks every envelope against the schema. */
export interface KeepingTransport extends EnvelopeTransport {
  readonly sent: { readonly channel: string; readonly envelopes: readonly Envelope[] }[];
  readonly all: () => readonly Envelope[];
  readonly events: () => readonly EventEnvelope[];
}

export function createKeepingTransport(more: Partial<EnvelopeTransport> = {}): KeepingTransport {
  const sent: KeepingTransport['sent'] = [];
  const all = (): readonly Envelope[] => sent.flatMap(({ envelopes }) => envelopes);
  return {
    sent,
    all,
    events: () => all().filter((envelope) => envelope.event !== 'agent.head') as readonly EventEnvelope[],
    send: (channel, envelopes) => {
      expect(envelopes.flatMap(toEnvelopeProblems)).toStrictEqual([]);
      sent.push({ channel, envelopes });
    },
    ...more,
  };
}

/** Checks that each number has the one before it as `prev_seq`, from the first on. */
export function expectChain(envelopes: readonly EventEnvelope[]): void {
  let [last, prev] = [0, 0];
  for (const { seq, prev_seq } of envelopes) {
    if (seq === undefined) continue;
    if (seq !== last) [prev, last] = [last, seq];
    expect(prev_seq).toBe(prev);
  }
}
