import { verifyEvents } from '@ag-ui/client';
import type { BaseEvent } from '@ag-ui/client';
import fc from 'fast-check';
import { from, lastValueFrom, toArray } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../../agent/index.ts';
import { subAgents } from '../../capabilities/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { defineTool } from '../../tools/index.ts';
import type { AnyEvent } from '../index.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { RunEvents } from './run-events.ts';

const anything = { type: 'object', properties: {} } as const;
const seen: AnyEvent[] = [];

beforeAll(async () => {
  const look = defineTool({ name: 'look', description: 'Looks.', input: anything, run: () => 'seen' });
  const inner = createAgent({
    model: scriptedModel([{ chunks: ['Let me ', 'see.'], toolCalls: [{ name: 'look', id: 'same' }] }, { text: 'Seen.' }]),
    tools: [look],
  });
  const spawn = { name: 'spawn_subagent', id: 'same', args: { subagent: 'inner', prompt: 'Look.' } };
  const failing = scriptedModel(
    [
      { chunks: [{ type: 'reasoning', text: 'Hm.' }, 'I ', 'ask.'], toolCalls: [spawn, { name: 'look' }] },
      { chunks: ['Wrong '], error: { type: 'model', code: 'down', message: 'down', retryable: true } },
    ],
    { modelId: 'one' },
  );
  const agent = createAgent({
    model: failing,
    fallback: [scriptedModel([{ chunks: ['All ', 'done.'] }], { modelId: 'two' })],
    tools: [look],
    capabilities: [subAgents({ agents: { inner: { agent: inner, description: 'Looks.' } } })],
  });
  for await (const event of agent.start('Look.')) seen.push(event);
});

/** Runs events through a mapper that is closed behind the last. */
function map(events: readonly AnyEvent[], hasSnapshots: boolean): readonly AgUiEvent[] {
  const run = new RunEvents({ hasSnapshots });
  const sent = events.flatMap((event) => run.add(event));
  const ids = { threadId: 't', runId: 'r' };
  return [
    { type: 'RUN_STARTED', ...ids, protocolVersion: '1.0' },
    ...sent,
    ...run.close(),
    { type: 'RUN_FINISHED', ...ids, outcome: { type: 'success' } },
  ];
}

const verify = (events: readonly AgUiEvent[]): Promise<unknown> =>
  // Holds: the verifier reads fields of any event.
  lastValueFrom(from(events as unknown as readonly BaseEvent[]).pipe(verifyEvents(), toArray()));

describe('the events of a run', () => {
  it('have sub-agents, calls, reasoning and a text that was taken back', () => {
    const types = new Set(map(seen, false).map(({ type }) => type));
    for (const type of ['SUBAGENT_STARTED', 'TOOL_CALL_RESULT', 'REASONING_START', 'CUSTOM'] as const) expect(types).toContain(type);
  });

  it('are closed, wherever the run is left (R1)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: seen.length }), fc.boolean(), async (length, hasSnapshots) => {
        await verify(map(seen.slice(0, length), hasSnapshots));
      }),
      { numRuns: 200 },
    );
  });

  it('announce and answer a call once, however often its events come (R2)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: seen.length, maxLength: seen.length }), async (isTwice) => {
        const isPiece = ({ type }: AnyEvent): boolean => type.endsWith('Delta');
        const events = map(
          seen.flatMap((event, index) => (isTwice[index] === true && !isPiece(event) ? [event, event] : [event])),
          false,
        );
        await verify(events);
        const count = (type: string): number => events.filter((event) => event.type === type).length;
        expect([count('TOOL_CALL_START'), count('TOOL_CALL_RESULT')]).toEqual([3, 3]);
      }),
      { numRuns: 100 },
    );
  });

  it('have the same text, whichever pieces were lost', () => {
    const getText = (events: readonly AgUiEvent[]): string => {
      const isVoid = new Set(
        events.flatMap((event) => (event.type === 'CUSTOM' && event.name === 'stepline.void' ? [JSON.stringify(event.value)] : [])),
      );
      return events
        .flatMap((event) =>
          event.type === 'TEXT_MESSAGE_CONTENT' && !isVoid.has(JSON.stringify({ messageId: event.messageId })) ? [event.delta] : [],
        )
        .join('');
    };
    const whole = getText(map(seen, false));
    expect(whole).toContain('All done.');
    // A reader that comes late gets a beginning of the text at once, or nothing of it.
    const isLate = (event: AnyEvent): boolean => event.type === 'TextDelta';
    expect(
      [
        ...getText(
          map(
            seen.filter((event) => !isLate(event)),
            false,
          ),
        ),
      ].sort(),
    ).toEqual([...whole].sort());
  });
});
