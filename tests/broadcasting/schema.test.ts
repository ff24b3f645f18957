import { describe, expect, it } from 'vitest';
import type { AnyEvent, Envelope } from '../../src/broadcasting/index.ts';
import { createEnvelopeMapper } from '../../src/broadcasting/index.ts';
import { findJsonSchemaProblem } from '../../src/tools/json-schema-problem.ts';
import { envelopeSchema, toEnvelopeProblems } from '../support/envelopes.ts';

const event = { type: 'ToolCallStarted', id: 'e', seq: 3, at: 0, agentId: 'a', parentAgentId: null, executionId: 'x', stepNumber: 1 };
const [valid] = createEnvelopeMapper().toEnvelopes(
  // Holds: these are the fields of a stored event.
  { ...event, orchestrator: 'agent', tool: 'look', toolCallId: 'c', args: {} } as unknown as AnyEvent,
  {
    prevSeq: 0,
  },
);
const given = valid as unknown as Record<string, unknown>;
const data = given['data'] as Record<string, unknown>;

describe('envelope.schema.json', () => {
  it('has no keyword that our validator would skip', () => {
    expect(findJsonSchemaProblem(envelopeSchema)).toBeUndefined();
  });

  it('accepts an envelope', () => {
    expect(toEnvelopeProblems(given as unknown as Envelope)).toStrictEqual([]);
  });

  it.each([
    ['an id that is null', { ...given, agent_id: null }],
    ['no session', { ...given, session_id: undefined }],
    ['a parent that is null', { ...given, parent_agent_id: null }],
    ['a field that nobody knows', { ...given, colour: 'red' }],
    ['a local time', { ...given, timestamp: '2026-01-16T10:05:01+01:00' }],
    ['neither a number nor the mark of a provisional one', { ...given, seq: undefined, prev_seq: undefined }],
    ['a number although it is provisional', { ...given, provisional: true, attempt: 1 }],
    ['a tool under the key name', { ...given, data: { ...data, tool: undefined, name: 'look' } }],
    ['data of another event', { ...given, event: 'agent.message' }],
    ['a name that does not begin with agent', { ...given, event: 'tool.started' }],
    ['a head without a number', { event: 'agent.head', timestamp: given['timestamp'], session_id: 's', part: 1, data: {} }],
    [
      'a chunk with a number',
      { ...given, event: 'agent.stream.chunk', data: { text: 'a', step_number: 1, attempt: 1, answer: 1, offset: 0 } },
    ],
  ])('refuses %s', (_, envelope) => {
    expect(toEnvelopeProblems(envelope as unknown as Envelope)).not.toStrictEqual([]);
  });
});
