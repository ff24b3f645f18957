import type { UIMessageChunk } from 'ai';
import { readUIMessageStream } from 'ai';
import { describe, expect, it } from 'vitest';
import { AnswerMapper } from './answer-mapper.ts';
import type { AgentUIMessage, AnswerChunk } from './answer-types.ts';
import { foldChunks } from './fold-chunks.ts';

const at = { executionId: 's/1', stepNumber: 1, agentId: 'a', parentAgentId: null };
const started = { ...at, type: 'AgentStepStarted' };
const call = { ...at, tool: 'pay', toolCallId: 'c1' };
const asked = { ...call, type: 'ToolApprovalRequested', args: { euros: 5 }, waitId: 'c1', digest: 'd1' };
const waiting = { ...at, type: 'AgentStateUpdated', status: 'waiting', text: 'Shall I?', messageId: 'm' };
const paused = { ...at, type: 'AgentFinished', status: 'waiting' };
const approved = { ...at, type: 'WaitResolved', waitId: 'c1', decision: 'approved' };
const running = { ...call, type: 'ToolCallStarted', args: { euros: 5 } };
const paid = { ...call, type: 'ToolCallCompleted', status: 'succeeded', result: 'paid' };
const completed = { ...at, type: 'AgentStepCompleted', text: 'Shall I?', messageId: 'm' };

/** The message that a page of the AI SDK has after these chunks. */
async function readMessage(chunks: readonly AnswerChunk[]): Promise<AgentUIMessage | undefined> {
  let last: AgentUIMessage | undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      controller.close();
    },
  });
  for await (const message of readUIMessageStream<AgentUIMessage>({ stream, terminateOnError: true })) last = message;
  return last;
}

const show = (message: AgentUIMessage | undefined): unknown =>
  message?.parts.flatMap((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return [part.text];
    return 'state' in part ? [`${part.type} ${part.state}`] : [];
  });

describe('AnswerMapper', () => {
  it('takes back an attempt that is void, and sends the next one (M1)', async () => {
    const mapper = new AnswerMapper();
    const chunks = [
      ...mapper.start('x'),
      ...mapper.takeEvent(started),
      ...mapper.takeText('text', 'Wrong'),
      ...mapper.takeEvent(running),
      ...mapper.voidAttempt(),
      ...mapper.takeEvent({ ...started, resumed: true, attempt: 2 }),
      ...mapper.takeText('text', 'Right'),
      ...mapper.takeStored([
        { ...started, resumed: true, attempt: 2 },
        { ...completed, text: 'Right' },
      ]),
      ...mapper.finish(undefined),
    ];
    expect(show(await readMessage(chunks))).toEqual(['Right']);
  });

  it('keeps what was stored before a step waited, if an attempt after that is void', async () => {
    const mapper = new AnswerMapper();
    const chunks = [
      ...mapper.start('x'),
      ...mapper.takeStored([started, asked, waiting, paused]),
      ...mapper.takeStored([approved]),
      ...mapper.takeEvent(running),
      ...mapper.voidAttempt(),
    ];
    expect(show(await readMessage(chunks))).toEqual(['Shall I?', 'tool-pay approval-responded']);
    const rest = [...mapper.takeEvent(running), ...mapper.takeEvent(paid), ...mapper.takeStored([running, paid, completed])];
    expect(show(await readMessage([...chunks, ...rest]))).toEqual(['Shall I?', 'tool-pay output-available']);
  });

  it('sends once what comes before it is stored and again when it is (M2)', () => {
    const mapper = new AnswerMapper();
    const live = [...mapper.takeEvent(started), ...mapper.takeText('text', 'Shall I?'), ...mapper.takeEvent(asked)];
    expect(live.map(({ type }) => type)).toEqual([
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'tool-input-available',
      'tool-approval-request',
    ]);
    expect(mapper.takeStored([started, asked, waiting, paused])).toEqual([]);
  });

  it('shows a call inside a sub-agent if it waits for somebody, and nothing else of it', async () => {
    const mapper = new AnswerMapper();
    const inside = { parentAgentId: 'a', agentId: 'b', executionId: 'b/1' };
    const chunks = [
      ...mapper.start('x'),
      ...mapper.takeStored([
        started,
        { ...running, tool: 'delegate', toolCallId: 'c0' },
        { ...running, ...inside, toolCallId: 'quiet' },
        { ...asked, ...inside, waitId: 'delegate/c1' },
        waiting,
        paused,
      ]),
    ];
    const message = await readMessage(chunks);
    expect(show(message)).toEqual(['Shall I?', 'tool-delegate input-available', 'dynamic-tool approval-requested']);
    expect(message?.parts.find(({ type }) => type === 'dynamic-tool')).toMatchObject({ toolCallId: 'delegate/c1', approval: { id: 'd1' } });
  });

  it('gives the same message to a page that opens it later as to one that listened', async () => {
    const mapper = new AnswerMapper();
    const events = [started, asked, waiting, paused, approved, running, paid, completed];
    const failed = {
      ...at,
      stepNumber: 2,
      tool: 'fly',
      toolCallId: 'c2',
      type: 'ToolCallCompleted',
      status: 'failed',
      error: 'no such tool',
    };
    const more = [{ ...started, stepNumber: 2 }, failed, { ...completed, stepNumber: 2, text: '' }];
    const chunks = [...mapper.start('x', { sessionId: 's' }), ...mapper.takeStored([...events, ...more]), ...mapper.finish(undefined)];
    const clean = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
    const read = await readMessage(chunks);
    expect(clean(foldChunks(chunks))).toEqual(clean({ ...read, metadata: read?.metadata }));
  });
});
