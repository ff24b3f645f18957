// A model of one's own may give two calls the same id. Answers, results and idempotency keys go by it, so each gets its own.
import { describe, expect, test } from 'vitest';
import { ErrorPolicy } from '../errors/index.ts';
import type { Model, ModelOutcome, ModelRequest } from '../inference/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { Part, ToolCallPart } from '../messages/index.ts';
import { Message, Usage } from '../messages/index.ts';
import type { ProducedStep, StepProcess, Wait } from '../step-by-step/index.ts';
import { createStepByStep } from '../step-by-step/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { Tool } from '../tools/index.ts';
import { defineTool } from '../tools/index.ts';
import type { Driver, ToolEvent, ToolUseStep } from './index.ts';
import { createToolUseProcess, ToolUse, ToolUseState, toSetup } from './index.ts';

// The set-up

const input = { type: 'object', properties: { n: { type: 'number' } } } as const;

interface Call {
  readonly name: string;
  readonly id?: string;
  readonly n?: number;
}

/** A model that minds no ids: its first answer makes these calls, its second says that it is done. */
function ownModel(...made: readonly Call[]): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  const called = made.map(({ name, id = 'call_0', n = 0 }): Part => ({ type: 'tool-call', toolCallId: id, toolName: name, args: { n } }));
  const answer = async (request: ModelRequest): Promise<ModelOutcome> => {
    requests.push(request);
    const isFirst = requests.length === 1;
    const parts: readonly Part[] = isFirst ? [{ type: 'text', text: 'Let me see.' }, ...called] : [{ type: 'text', text: 'Done.' }];
    return { ok: true, response: { parts, usage: Usage.of({ input: isFirst ? 900 : 1, output: isFirst ? 100 : 1 }) } };
  };
  return { provider: 'own', modelId: 'm', requests, generate: answer, stream: answer };
}

function setUp(model: Model, more: { readonly driver?: Driver } = {}) {
  const clock = createFakeClock();
  const ids = createCountingIds('id');
  const ran: { readonly tool: string; readonly id: string; readonly key: string; readonly n: number | undefined }[] = [];
  const tool = (name: string, needsApproval: boolean): Tool =>
    defineTool({
      name,
      description: `Does ${name}.`,
      input,
      needsApproval,
      run: ({ n }, { toolCallId: id, idempotencyKey: key }) => {
        ran.push({ tool: name, id, key, n });
        return `${name} ${n ?? ''}`;
      },
    });
  const tools = [tool('free', false), tool('gated', true)];
  const orchestrator = new ToolUse({ model, tools, ports: { clock, ids }, ...more });
  const events: ToolEvent[] = [];
  const run = (state: ToolUseState): Promise<ToolUseState> => orchestrator.run(state, { onEvent: (event) => events.push(event) });
  const start = ToolUseState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  return { run, start, ran, events, tools, clock, ids };
}

const roundTrip = (state: ToolUseState): ToolUseState => ToolUseState.fromJSON(JSON.parse(JSON.stringify(state)));
const callIds = (state: ToolUseState): readonly string[] =>
  state.messages.toArray().flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
const resultIds = (state: ToolUseState): readonly string[] =>
  state.messages.toArray().flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId));

const toCall = (n: number): ToolCallPart => ({ type: 'tool-call', toolCallId: 'call_0', toolName: 'free', args: { n } });
const toResult = (more: { readonly providerExecuted?: true } = {}): Part => ({
  type: 'tool-result',
  toolCallId: 'call_0',
  toolName: 'free',
  output: { type: 'text', value: 'found' },
  ...more,
});

// The tests

describe('two calls with one id', () => {
  test('get an id each: in the step, in the message, in the results and in the keys', async () => {
    const model = ownModel({ name: 'free', n: 1 }, { name: 'free', n: 2 });
    const { run, start, ran, events } = setUp(model);
    const end = await run(start);
    const ids = ['call_0', 'call_0~2'];
    expect([end.status, end.text, end.usage.total]).toStrictEqual(['completed', 'Done.', 1002]);
    const [step] = end.steps;
    expect(step?.toolCalls.map(({ id, args }) => [id, args])).toStrictEqual([
      ['call_0', { n: 1 }],
      ['call_0~2', { n: 2 }],
    ]);
    expect(step?.executions.map(({ toolCallId, value }) => [toolCallId, value])).toStrictEqual([
      ['call_0', 'free 1'],
      ['call_0~2', 'free 2'],
    ]);
    expect([callIds(end), resultIds(end), ran.map(({ id }) => id)]).toStrictEqual([ids, ids, ids]);
    expect(new Set(ran.map(({ key }) => key)).size).toBe(2);
    expect(ran.map(({ key, n }) => [key.split('/').at(-1), n])).toStrictEqual([
      ['call_0', 1],
      ['call_0~2', 2],
    ]);
    const listCallIds = (type: string) =>
      events.flatMap((event) => (event.type === type && 'toolCallId' in event ? [event.toolCallId] : []));
    expect([listCallIds('ToolCallStarted'), listCallIds('ToolCallCompleted')]).toStrictEqual([ids, ids]);
    // The model reads what it is told under the same ids.
    const read = model.requests[1]!.messages;
    expect(read.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id))).toStrictEqual(ids);
    expect(read.flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId))).toStrictEqual(ids);
    expect(roundTrip(end).steps).toStrictEqual(end.steps);
  });

  test('do not take a name that another call has', async () => {
    const { run, start } = setUp(ownModel({ name: 'free' }, { name: 'free' }, { name: 'free', id: 'call_0~2' }, { name: 'free' }));
    const end = await run(start);
    const ids = end.steps[0]!.toolCalls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    expect([callIds(end), resultIds(end)]).toStrictEqual([ids, ids]);
  });

  test.each<[string, readonly Part[], readonly string[], readonly string[]]>([
    ['the first ran', [toCall(1), toCall(2), toResult({ providerExecuted: true })], ['call_0', 'call_0~2'], ['call_0~2']],
    [
      'the second ran, on the provider’s side',
      [toCall(1), { ...toCall(2), providerExecuted: true }, toResult({ providerExecuted: true })],
      ['call_0', 'call_0~2'],
      ['call_0'],
    ],
    ['both ran', [toCall(1), toCall(2), toResult(), toResult()], ['call_0', 'call_0~2'], []],
  ])('get an id each beside a result of the provider, and the one without a result runs: %s', async (_, parts, ids, run) => {
    const answers: ModelOutcome[] = [{ ok: true, response: { parts, usage: Usage.none() } }];
    const answer = async (): Promise<ModelOutcome> =>
      answers.shift() ?? { ok: true, response: { parts: [{ type: 'text', text: 'Done.' }], usage: Usage.none() } };
    const world = setUp({ provider: 'own', modelId: 'm', generate: answer, stream: answer });
    const end = roundTrip(await world.run(world.start));
    expect([end.status, callIds(end), world.ran.map(({ id }) => id)]).toStrictEqual(['completed', ids, run]);
    expect(resultIds(end).toSorted()).toStrictEqual(ids);
  });

  test('leave alone what is unique already, and the words beside it', async () => {
    const { run, start } = setUp(ownModel({ name: 'free', id: 'x' }, { name: 'free', id: 'y' }));
    const end = await run(start);
    expect(callIds(end)).toStrictEqual(['x', 'y']);
    expect(end.messages.toArray()[1]?.text).toBe('Let me see.');
  });

  test('get an id each from a driver of one’s own, too', async () => {
    const call = { id: 'same', name: 'free', args: {} };
    const driver: Driver = {
      name: 'own',
      ask: async ({ scope }): Promise<ToolUseStep> => ({
        id: scope.ids(),
        outputMessages: [Message.assistant('Calls in plain words.', { ids: scope.ids })],
        usage: Usage.of({ input: 10, output: 5 }),
        errors: [],
        hasToolCalls: scope.stepNumber === 1,
        stepType: scope.stepNumber === 1 ? 'tool_execution' : 'final_response',
        toolCalls: scope.stepNumber === 1 ? [call, call] : [],
        executions: [],
      }),
    };
    const { run, start, ran } = setUp(scriptedModel([]), { driver });
    const end = await run(start);
    expect([end.status, ran.map(({ id }) => id)]).toStrictEqual(['completed', ['same', 'same~2']]);
    expect(end.steps[0]?.executions.map(({ toolCallId }) => toolCallId)).toStrictEqual(['same', 'same~2']);
  });
});

describe('a free call and two gated ones with one id', () => {
  const wait = async (carry: (state: ToolUseState) => ToolUseState) => {
    const world = setUp(ownModel({ name: 'free', n: 1 }, { name: 'gated', n: 2 }, { name: 'gated', n: 3 }));
    return { ...world, waiting: carry(await world.run(world.start)) };
  };

  describe.each([
    ['in memory', (state: ToolUseState) => state],
    ['through JSON', roundTrip],
  ] as const)('%s', (_, carry) => {
    test('wait for two answers, and keep what was spent', async () => {
      const { waiting, ran } = await wait(carry);
      expect([waiting.status, waiting.usage.total, ran.map(({ tool }) => tool)]).toStrictEqual(['waiting', 1000, ['free']]);
      expect(waiting.waitingFor).toMatchObject([
        { type: 'approval', id: 'call_0~2', args: { n: 2 } },
        { type: 'approval', id: 'call_0~3', args: { n: 3 } },
      ]);
    });

    test('are answered separately', async () => {
      const { run, waiting, ran } = await wait(carry);
      const [first, second] = waiting.waitingFor.map(({ id }) => id) as [string, string];
      const half = carry(await run(waiting.approve(first)));
      expect([half.status, half.waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', [second]]);
      const end = await run(half.reject(second, 'too dear'));
      expect([end.status, end.usage.total]).toStrictEqual(['completed', 1002]);
      expect(end.steps[0]?.executions.map(({ toolCallId, status }) => [toolCallId, status])).toStrictEqual([
        ['call_0', 'succeeded'],
        [first, 'succeeded'],
        [second, 'rejected'],
      ]);
      expect(ran.map(({ tool, n }) => [tool, n])).toStrictEqual([
        ['free', 1],
        ['gated', 2],
      ]);
      expect(new Set(ran.map(({ key }) => key)).size).toBe(2);
      expect(resultIds(end)).toStrictEqual(callIds(end));
    });

    test('are all closed by a message', async () => {
      const { waiting } = await wait(carry);
      const next = carry(waiting.withUserMessage('Never mind.'));
      const executions = next.session.executions[0]!.results.last!.step.executions;
      expect(executions.map(({ status }) => status)).toStrictEqual(['succeeded', 'rejected', 'rejected']);
      expect(resultIds(next)).toStrictEqual(callIds(next));
    });
  });
});

describe('a process that hands in waits which cannot be answered', () => {
  type Waiting = Extract<ProducedStep<ToolUseStep>, { readonly type: 'waiting' }>;

  test.each<[string, (waits: readonly Wait[]) => readonly Wait[], RegExp]>([
    ['two with one id', (waits) => [...waits, ...waits], /Two waits have the id "call_0"/],
    ['none at all', () => [], /waiting step without waits/],
  ])('%s: the step fails, and keeps usage, messages and what was carried out', async (_, spoil, message) => {
    const model = ownModel({ name: 'free', id: 'done', n: 1 }, { name: 'gated', n: 2 });
    const { tools, start, ran, clock, ids } = setUp(model);
    const define = (): never => {
      throw new Error('Nothing is recorded.');
    };
    const setup = { ...toSetup<ToolUseState>('tool-use', { model, tools }), define };
    const process = createToolUseProcess<ToolUseState>(setup, { limits: {}, policy: ErrorPolicy.stopOnAnyError() });
    const spoilt: StepProcess<ToolUseState> = {
      ...process,
      produce: async (state, scope) => {
        const produced = await process.produce(state, scope);
        return produced.type === 'waiting' ? ({ ...produced, waits: spoil(produced.waits) } satisfies Waiting) : produced;
      },
    };
    const events: string[] = [];
    const end = await createStepByStep<ToolUseState>(spoilt, { clock, ids }).run(start, {
      onEvent: (event: { readonly type: string; readonly toolCallId?: string }) =>
        event.type === 'ToolCallCompleted' && events.push(event.toolCallId ?? ''),
    });
    expect([end.status, end.stepCount, end.usage.total, end.text]).toStrictEqual(['failed', 1, 1000, 'Let me see.']);
    expect(end.errors.map((failure) => failure.message)).toStrictEqual([expect.stringMatching(message)]);
    expect(end.steps[0]?.executions.map(({ toolCallId, status }) => [toolCallId, status])).toStrictEqual([
      ['done', 'succeeded'],
      ['call_0', 'cancelled'],
    ]);
    expect([ran.map(({ tool }) => tool), events]).toStrictEqual([['free'], ['done', 'call_0']]);
    expect(resultIds(end)).toStrictEqual(callIds(end));
    expect(roundTrip(end).steps).toStrictEqual(end.steps);
  });
});
