import { verifyEvents } from '@ag-ui/client';
import type { BaseEvent } from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createAgent } from '../../agent/index.ts';
import { subAgents } from '../../capabilities/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { defineTool } from '../../tools/index.ts';
import type { AnyEvent } from '../index.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { createAgUiMapper } from './create-ag-ui-mapper.ts';

const anything = { type: 'object', properties: {} } as const;

/** Maps all events of a run; AG-UI's own schemas and verifier accept them. */
async function map(run: AsyncIterable<AnyEvent>): Promise<readonly AgUiEvent[]> {
  const mapper = createAgUiMapper({ threadId: 't', runId: 'r' });
  const events: AgUiEvent[] = [];
  for await (const event of run) events.push(...mapper.toEvents(event));
  const parsed = events.map((event) => EventSchemas.parse(event) as BaseEvent);
  await lastValueFrom(from(parsed).pipe(verifyEvents(), toArray()));
  return events;
}

/** Types of events in order; those of one text, however many pieces it came in, once. */
const getTypes = (events: readonly AgUiEvent[]): readonly string[] =>
  events.map(({ type }) => type).filter((type, index, all) => type !== 'TEXT_MESSAGE_CONTENT' || all[index - 1] !== type);

describe('createAgUiMapper()', () => {
  it('maps a run of an agent from its first event to its last', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', input: anything, run: () => ({ seen: true }) });
    const model = scriptedModel([{ reasoning: 'Hm.', chunks: ['Let ', 'me see.'], toolCalls: [{ name: 'look' }] }, { text: 'Seen.' }]);
    const events = await map(createAgent({ model, tools: [look] }).start('Look.'));
    expect(getTypes(events)).toEqual([
      ...['RUN_STARTED', 'STEP_STARTED'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT'],
      ...['REASONING_START', 'REASONING_MESSAGE_START', 'REASONING_MESSAGE_CONTENT', 'REASONING_MESSAGE_END', 'REASONING_END'],
      ...['TEXT_MESSAGE_END', 'TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT', 'STEP_FINISHED'],
      ...['STEP_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'STEP_FINISHED'],
      ...['CUSTOM', 'RUN_FINISHED'],
    ]);
    expect(events.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({ content: '{"seen":true}' });
    // No call has reported its tokens: that is unknown, and not zero.
    expect(events.at(-1)).not.toHaveProperty('usage');
  });

  it('takes back the words of a model that failed, and continues under another id', async () => {
    const failing = scriptedModel([{ chunks: ['Wrong '], error: { type: 'model', code: 'down', message: 'down', retryable: true } }], {
      modelId: 'one',
    });
    const agent = createAgent({ model: failing, fallback: [scriptedModel([{ chunks: ['Right.'] }], { modelId: 'two' })] });
    const events = await map(agent.start('Hello?'));
    const [wrong, right] = events
      .filter(({ type }) => type === 'TEXT_MESSAGE_START')
      .map((event) => Reflect.get(event, 'messageId') as string);
    expect(wrong).not.toBe(right);
    expect(events).toContainEqual(expect.objectContaining({ type: 'CUSTOM', name: 'stepline.void', value: { messageId: wrong } }));
  });

  it('ends a run that fails with its error, without secrets', async () => {
    const error = { type: 'model', code: 'denied', message: 'Bad key sk-abcdefghijklmnopqrstuvwxyz123456', retryable: false };
    const events = await map(createAgent({ model: scriptedModel([{ error }]) }).start('Hello?'));
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'denied' });
    expect(JSON.stringify(events)).not.toContain('sk-abc');
  });

  it('ends a run that is stopped as cancelled, with everything closed', async () => {
    async function* speak(): AsyncGenerator<string> {
      yield 'One ';
      leaving.abort('enough');
      yield 'two';
    }
    const leaving = new AbortController();
    const agent = createAgent({ model: scriptedModel([{ chunks: speak() }]) });
    const events = await map(agent.start('Count.', { signal: leaving.signal }));
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  });

  it('ends a run that waits with its interrupts', async () => {
    const pay = defineTool({ name: 'pay', description: 'Pays.', input: anything, needsApproval: true, run: () => 'paid' });
    const model = scriptedModel([{ toolCalls: [{ name: 'pay', id: 'call' }] }]);
    const events = await map(createAgent({ model, tools: [pay] }).start('Pay.'));
    const toolCallId = events.flatMap((event) => (event.type === 'TOOL_CALL_START' ? [event.toolCallId] : []))[0];
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'interrupt', interrupts: [{ id: 'call', reason: 'tool_call', toolCallId }] } });
  });

  it('attributes what two sub-agents do at once, whatever their calls are named', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', input: anything, run: () => 'seen' });
    const create = (): ReturnType<typeof createAgent> =>
      createAgent({
        model: scriptedModel([{ chunks: ['Let me see.'], toolCalls: [{ name: 'look', id: 'same' }] }, { text: 'Seen.' }]),
        tools: [look],
      });
    const toCall = (subagent: string) => ({ id: subagent, name: 'spawn_subagent', args: { subagent, prompt: 'Look.' } });
    const agents = { north: { agent: create(), description: 'North.' }, south: { agent: create(), description: 'South.' } };
    const model = scriptedModel([{ toolCalls: [toCall('north'), toCall('south')] }, { text: 'Done.' }]);
    const events = await map(createAgent({ model, capabilities: [subAgents({ agents })] }).start('Look.'));
    const started = events.flatMap((event) => (event.type === 'SUBAGENT_STARTED' ? [event.name] : []));
    expect(started.sort()).toEqual(['north', 'south']);
    const tags = new Set(events.flatMap((event) => (event.type === 'TEXT_MESSAGE_START' ? [event.subagentRunId] : [])));
    expect(tags.size).toBe(3);
    expect(getTypes(events).filter((type) => type === 'TOOL_CALL_RESULT')).toHaveLength(4);
  });

  it('gives the same events for the same run, live or stored', async () => {
    const seen: AnyEvent[] = [];
    const agent = createAgent({ model: scriptedModel([{ chunks: ['Good ', 'morning.'] }]) });
    for await (const event of agent.start('Hello?')) seen.push(event);
    async function* replay(): AsyncGenerator<AnyEvent> {
      yield* seen;
    }
    expect(await map(replay())).toEqual(await map(replay()));
    // Stored events lack the pieces: the text comes whole.
    async function* replayStored(): AsyncGenerator<AnyEvent> {
      yield* seen.filter(({ type }) => type !== 'TextDelta');
    }
    const getText = (events: readonly AgUiEvent[]): string =>
      events.flatMap((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [event.delta] : [])).join('');
    expect(getText(await map(replayStored()))).toBe('Good morning.');
  });
});
