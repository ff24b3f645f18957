// Stored forms that this release wrote. A later one has to read them as they are, and to write the same until its schema has another number.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import * as prettier from 'prettier';
import { describe, expect, test } from 'vitest';
import { ChatState } from '../../src/chat/index.ts';
import { CollaborationState } from '../../src/collaboration/index.ts';
import { AgentState, DamagedDataError, NewerSchemaError, ToolUseState, WrongKindError } from '../../src/entry/index.ts';
import { written } from './runs.ts';

const toPath = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const readText = (name: string): string => readFileSync(toPath(name), 'utf8').trimEnd();
const howToRenew =
  'The stored form is not what it was. Stored sessions have the old one: keep it readable, and give what is no addition a new schema and an upgrade. ' +
  'Where the change is meant, run `UPDATE_GOLDEN=1 npx vitest run tests/golden` and commit the files.';

describe('today’s code writes what is kept here', () => {
  test.each(Object.entries(written))('%s', async (name, write) => {
    const now = JSON.stringify(await write());
    if (process.env['UPDATE_GOLDEN'] === '1') {
      const options = await prettier.resolveConfig(toPath(name));
      writeFileSync(toPath(name), await prettier.format(now, { ...options, parser: 'json' }));
    }
    // The files are laid out for people; but for white space, every byte counts, the order of keys too.
    expect(now, howToRenew).toBe(JSON.stringify(JSON.parse(readText(name))));
  });

  test.each(Object.entries(written))('%s comes out the same every time', async (_, write) => {
    expect(JSON.stringify(await write())).toBe(JSON.stringify(await write()));
  });
});

type Envelope = { readonly kind: string; readonly schema: number; readonly data: object };
interface Delta {
  readonly before: unknown;
  readonly changes: readonly unknown[];
}
const delta = (): Delta => JSON.parse(readText('agent-state.delta.1.json')) as Delta;
const afterChanges = ({ before, changes }: Delta): AgentState =>
  changes.reduce<AgentState>((state, change) => AgentState.codec.patch(state, change), AgentState.codec.decode(before));
const figures = (state: AgentState | ToolUseState): object => ({
  status: state.status,
  stopReason: state.stopReason,
  stepCount: state.stepCount,
  executions: state.session.executions.map(({ results }) => results.length),
  usage: state.session.usage,
  sections: state.store.names,
  messages: state.messages
    .toArray()
    .map(
      ({ role, text, toolCalls, toolResults }) =>
        `${role}: ${text}${toolCalls.map(({ name }) => `→${name}`).join('')}${toolResults.map(({ toolName }) => `←${toolName}`).join('')}`,
    ),
  waitingFor: state.waitingFor,
  calls: state.session.executions.flatMap(({ results }) =>
    results.toArray().map(({ step }) => step.executions.map(({ toolName, status }) => `${toolName} ${status}`).join()),
  ),
  errors: state.session.executions.flatMap(({ results }) => results.toArray().flatMap(({ step }) => step.errors.map(({ code }) => code))),
  metadata: state.metadata,
  explained: state.explain().split('\n'),
});

describe('what is kept here is read', () => {
  test('a conversation', () => {
    expect(figures(AgentState.codec.parse(readText('agent-state.1.json')))).toMatchInlineSnapshot(`
      {
        "calls": [
          "search succeeded",
          "broken failed,pay succeeded",
          "",
          "clipboard succeeded",
          "",
        ],
        "errors": [
          "tool-failed",
        ],
        "executions": [
          3,
          2,
        ],
        "explained": [
          "Completed in step 2: the model answered and called no tools.",
          "Decided by ToolCallPresenceCheck.",
          "No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (2 of 6), TokenUsageLimit (84 of 10000), ExecutionTimeLimit, CumulativeExecutionTimeLimit, CostLimit (0.084 of 2 US dollars).",
        ],
        "messages": [
          "assistant: I look.→search",
          "tool: ←search",
          "assistant: →broken→pay",
          "tool: ←broken",
          "tool: ←pay",
          "assistant: Acme is paid.",
          "user: What is in my clipboard?",
          "assistant: →clipboard",
          "tool: ←clipboard",
          "assistant: A poem.",
        ],
        "metadata": {
          "mood": {
            "patience": 0.5,
          },
          "tenant": "acme",
        },
        "sections": [
          "messages",
          "summary",
          "attic",
        ],
        "status": "completed",
        "stepCount": 2,
        "stopReason": "completed",
        "usage": {
          "cacheRead": 4,
          "input": 150,
          "output": 60,
          "total": 210,
        },
        "waitingFor": [],
      }
    `);
  });

  test('a state that waits', () => {
    expect(figures(AgentState.codec.parse(readText('agent-state.waiting.1.json')))).toMatchInlineSnapshot(`
      {
        "calls": [
          "search succeeded",
        ],
        "errors": [],
        "executions": [
          1,
        ],
        "explained": [
          "Waiting in step 2 for the output of clipboard (call-4).",
          "Next: Run the call and answer "call-4" with its output.",
        ],
        "messages": [
          "user: Pay Acme.",
          "assistant: →search",
          "tool: ←search",
        ],
        "metadata": {},
        "sections": [
          "messages",
        ],
        "status": "waiting",
        "stepCount": 1,
        "stopReason": undefined,
        "usage": {
          "input": 60,
          "output": 24,
          "total": 84,
        },
        "waitingFor": [
          {
            "args": {},
            "id": "call-4",
            "toolName": "clipboard",
            "type": "client-tool",
          },
        ],
      }
    `);
  });

  test('a run that failed', () => {
    expect(figures(ToolUseState.codec.parse(readText('tool-use-state.1.json')))).toMatchInlineSnapshot(`
      {
        "calls": [
          "broken failed",
          "nobody failed",
          "broken failed",
        ],
        "errors": [
          "invalid-json",
          "unknown-tool",
          "tool-failed",
        ],
        "executions": [
          3,
        ],
        "explained": [
          "Failed after step 3: third failure in a row (limit 3), the last one a tool error in broken.",
          "  Step 1: The arguments of "broken" are not valid JSON, at line 1, column 9: expected a value, but the text ends. Call it again with valid JSON. (invalid-json)",
          "  Step 2: There is no tool named "nobody". The tools are: search, broken, pay, clipboard. (unknown-tool)",
          "  Step 3: tool broken, out of order (tool-failed).",
          "Decided by ErrorPolicyCriterion.",
          "ToolCallPresenceCheck asked for another step: the model has not answered yet.",
          "Next: Fix the tool, or what it depends on, then send a message to continue.",
          "No objection: StopRequested, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (3 of 9), TokenUsageLimit (126 of 8192), ExecutionTimeLimit.",
        ],
        "messages": [
          "user: Try it.",
          "assistant: →broken",
          "tool: ←broken",
          "assistant: →nobody",
          "tool: ←nobody",
          "assistant: →broken",
          "tool: ←broken",
        ],
        "metadata": {},
        "sections": [
          "messages",
        ],
        "status": "failed",
        "stepCount": 3,
        "stopReason": "retry_limit",
        "usage": {
          "input": 90,
          "output": 36,
          "total": 126,
        },
        "waitingFor": [],
      }
    `);
  });

  test('a conversation that was stored change by change', () => {
    const [whole, state] = [AgentState.codec.parse(readText('agent-state.1.json')), afterChanges(delta())];
    expect(delta().changes.length).toBeGreaterThan(8);
    expect(figures(state)).toStrictEqual(figures(whole));
    expect(AgentState.codec.stringify(state)).toBe(AgentState.codec.stringify(whole));
  });

  test('and goes on: what waits can be answered', () => {
    const state = AgentState.codec.parse(readText('agent-state.waiting.1.json'));
    const [wait] = state.waitingFor;
    expect(state.answer(wait!.id, 'words').waitingFor).toStrictEqual([]);
  });
});

describe('a chat that is kept here is read', () => {
  const turns = (state: ChatState): unknown =>
    state.session.executions.flatMap(({ results }) =>
      results.toArray().map(({ step, stopReason }) => [step.participant, step.selection?.by, step.inner?.stopReason, stopReason]),
    );

  test('whole', () => {
    const state = ChatState.codec.parse(readText('chat-state.1.json'));
    expect(turns(state)).toStrictEqual([
      ['moderator', 'coordinator', undefined, undefined],
      ['engineer', 'coordinator', 'error', undefined],
      ['engineer', 'retry', 'completed', undefined],
      ['anna', 'round-robin', undefined, 'completed'],
      ['engineer', 'coordinator', 'completed', undefined],
    ]);
    expect(state.explain().split('\n')[0]).toMatch(/^Waiting in step 2 \(turn of anna\) for an answer from anna \(anna\/6\)/);
    expect(state.steps[0]?.window).toMatchObject({ folded: 4, buffered: 5 });
    expect(state.steps[0]?.window?.summary?.text).toContain('They talked of a bridge.');
    expect(state.steps[0]?.inner?.calls).toStrictEqual([{ tool: 'pull', status: 'rejected' }]);
  });

  test('while a call inside a turn waits', () => {
    const state = ChatState.codec.parse(readText('chat-state.waiting.1.json'));
    expect(state.waitingFor).toStrictEqual([{ type: 'approval', id: 'engineer/call-2', toolName: 'pull', args: {}, agent: 'engineer' }]);
    expect(state.approve('engineer/call-2').waitingFor).toStrictEqual([]);
  });

  test('change by change', () => {
    const { before, changes } = JSON.parse(readText('chat-state.delta.1.json')) as Delta;
    const state = changes.reduce<ChatState>((each, change) => ChatState.codec.patch(each, change), ChatState.codec.decode(before));
    expect(ChatState.codec.stringify(state)).toBe(ChatState.codec.stringify(ChatState.codec.parse(readText('chat-state.1.json'))));
  });
});

describe('a collaboration that is kept here is read', () => {
  test('whole', () => {
    const state = CollaborationState.codec.parse(readText('collaboration-state.1.json'));
    expect([state.status, state.task, state.steps.map(({ changes = [] }) => changes.map(({ type }) => type))]).toStrictEqual([
      'completed',
      'Plan the lamp.',
      [['write', 'handoff'], [], ['write'], ['approve']],
    ]);
    expect(state.board.get('plan')).toStrictEqual({
      name: 'plan',
      version: 2,
      content: '{"title":"A lamp"}',
      author: 'writer',
      versions: [
        { version: 1, content: 'a lamp', author: 'writer' },
        { version: 2, content: '{"title":"A lamp"}', author: 'writer' },
      ],
    });
    expect(state.steps.map(({ fit }) => fit?.ok)).toStrictEqual([false, false, true, true]);
    expect(state.approvals).toStrictEqual([{ by: 'anna', artifact: 'plan', version: 2 }]);
  });

  test('change by change', () => {
    const { codec } = CollaborationState;
    const { before, changes } = JSON.parse(readText('collaboration-state.delta.1.json')) as Delta;
    const state = changes.reduce<CollaborationState>((each, change) => codec.patch(each, change), codec.decode(before));
    expect(codec.stringify(state)).toBe(codec.stringify(codec.parse(readText('collaboration-state.1.json'))));
  });
});

describe('what is read is written again as it was', () => {
  test.each(['agent-state.1.json', 'agent-state.waiting.1.json'])('%s', (name) => {
    expect(JSON.parse(AgentState.codec.stringify(AgentState.codec.parse(readText(name))))).toStrictEqual(JSON.parse(readText(name)));
  });

  test.each(['chat-state.1.json', 'chat-state.waiting.1.json'])('%s', (name) => {
    expect(JSON.parse(ChatState.codec.stringify(ChatState.codec.parse(readText(name))))).toStrictEqual(JSON.parse(readText(name)));
  });

  test('collaboration-state.1.json', () => {
    const text = readText('collaboration-state.1.json');
    expect(JSON.parse(CollaborationState.codec.stringify(CollaborationState.codec.parse(text)))).toStrictEqual(JSON.parse(text));
  });

  test('tool-use-state.1.json', () => {
    const text = readText('tool-use-state.1.json');
    expect(JSON.parse(ToolUseState.codec.stringify(ToolUseState.codec.parse(text)))).toStrictEqual(JSON.parse(text));
  });
});

describe.each([
  ['agent-state.1.json', AgentState.codec],
  ['agent-state.waiting.1.json', AgentState.codec],
  ['tool-use-state.1.json', ToolUseState.codec],
  ['chat-state.1.json', ChatState.codec],
  ['chat-state.waiting.1.json', ChatState.codec],
  ['collaboration-state.1.json', CollaborationState.codec],
] as const)('%s', (name, codec) => {
  const envelope = (): Envelope => JSON.parse(readText(name)) as Envelope;

  test('of a newer schema is refused', () => {
    const newer = { ...envelope(), schema: 2 };
    const text = JSON.stringify(newer);
    expect(() => codec.decode(newer)).toThrow(NewerSchemaError);
    expect(() => codec.parse(text)).toThrow(expect.objectContaining({ found: 2, supported: 1 }) as Error);
    expect(JSON.stringify(newer)).toBe(text);
  });

  test('of another kind is refused', () => {
    expect(() => codec.decode({ ...envelope(), kind: 'shopping-list' })).toThrow(WrongKindError);
    const others = [AgentState.codec, ToolUseState.codec, ChatState.codec, CollaborationState.codec].filter((each) => each !== codec);
    for (const other of others) expect(() => other.parse(readText(name))).toThrow(WrongKindError);
  });

  test('cut off anywhere is refused', () => {
    const text = JSON.stringify(envelope());
    fc.assert(
      fc.property(fc.nat(text.length - 1), (length) => {
        expect(() => codec.parse(text.slice(0, length))).toThrow(DamagedDataError);
      }),
      { numRuns: 200 },
    );
  });

  test('is not changed by being read', () => {
    const before = [statSync(toPath(name)).mtimeMs, readText(name)];
    const data = envelope();
    const text = JSON.stringify(data);
    codec.decode(data);
    expect(JSON.stringify(data)).toBe(text);
    expect([statSync(toPath(name)).mtimeMs, readText(name)]).toStrictEqual(before);
  });
});

test('a change that is read is left as it was', () => {
  const given = delta();
  const text = JSON.stringify(given);
  afterChanges(given);
  expect(JSON.stringify(given)).toBe(text);
});
