import { describe, expect, it } from 'vitest';
import { toEnvelopeProblems } from '../../tests/support/envelopes.ts';
import type { AnyEvent } from './envelope-mapper.ts';
import { createEnvelopeMapper } from './envelope-mapper.ts';

const header = {
  id: 'session-1/1/7',
  seq: 7,
  at: Date.UTC(2026, 0, 16, 10, 5, 1),
  agentId: 'abc123',
  agentName: 'desk',
  parentAgentId: null,
  sessionId: 'session-1',
  executionId: 'session-1/1',
  stepNumber: 2,
  orchestrator: 'agent',
};

describe('smoke', () => {
  it('maps', () => {
    const mapper = createEnvelopeMapper({ preset: 'debug' });
    const event = { ...header, type: 'ToolCallStarted', tool: 'search', toolCallId: 'c1', args: { a: 1, password: 'x' } } as AnyEvent;
    const out = mapper.toEnvelopes(event, { prevSeq: 5 });
    expect(out.flatMap(toEnvelopeProblems)).toEqual([]);
    console.log(JSON.stringify(out, null, 1));
  });
});
