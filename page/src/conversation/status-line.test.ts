import { describe, expect, it } from 'vitest';
import type { StatusFacts } from './status-line.tsx';
import { describeClock, describeConnection, describeRunBy } from './status-line.tsx';

const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 17) + seconds * 1_000).toISOString();
const now = Date.parse(at(100));
const base: StatusFacts = {
  status: 'in_progress',
  waits: [],
  clocks: { step_count: 0, duration_ms: 0 },
  tokens: 0,
  messages: [],
  connection: 'live',
  isLoaded: true,
};
const asked = {
  id: 'm',
  role: 'user',
  text: '',
  timestamp: at(97),
  agent_id: 'a',
  message_id: 'm',
  by: { id: 'ann', kind: 'user' },
} as const;

describe('the clock', () => {
  it.each<[string, Partial<StatusFacts>, string]>([
    ['counts from the start of the run', { clocks: { step_count: 1, duration_ms: 5, started_at: at(88) } }, '12 s'],
    [
      'counts from the last message while the run before it is the last that is known',
      { clocks: { step_count: 1, duration_ms: 5, started_at: at(1), rested_at: at(2) }, messages: [asked] },
      '3 s',
    ],
    ['is empty if nothing is known', {}, ''],
    [
      'does not run backwards if the clock of the server is ahead',
      { clocks: { step_count: 1, duration_ms: 5, started_at: at(140) } },
      '0 s',
    ],
    [
      'says how long somebody is waited for',
      { status: 'waiting', clocks: { step_count: 1, duration_ms: 5, started_at: at(1), rested_at: at(30) } },
      'for 1 min 10 s',
    ],
    [
      'says how long it took',
      { status: 'completed', clocks: { step_count: 1, duration_ms: 5, started_at: at(1), rested_at: at(3.5) } },
      'after 2.5 s',
    ],
  ])('%s', (_name, facts, text) => {
    expect(describeClock({ ...base, ...facts }, now)).toBe(text);
  });
});

describe('the connection', () => {
  it('is said in words unless everything is current', () => {
    expect(describeConnection('live', true)).toBeUndefined();
    expect(describeConnection('shared', true)).toBeUndefined();
    expect(describeConnection('waiting', true)).toBe('Reconnecting…');
    expect(describeConnection('refused', true)).toBe('Not connected');
    expect(describeConnection('live', false)).toBe('Offline');
  });
});

describe('the worker', () => {
  it.each([
    ['names the worker that runs it', { worker: { name: 'worker-1', silent_ms: 400 } }, 'run by worker-1'],
    ['says that the worker is silent', { worker: { name: 'worker-1', silent_ms: 12_000 } }, 'worker-1 gives no sign of life'],
    ['says that none runs it', {}, 'no worker runs it'],
  ])('%s', (_, facts, text) => {
    expect(describeRunBy(facts, true)).toBe(text);
  });

  it('gives a worker a moment to take a session up', () => {
    expect(describeRunBy({}, false)).toBeUndefined();
  });
});
