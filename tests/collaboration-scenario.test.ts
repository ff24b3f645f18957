// Writer, critic and fact-checker revise a product description under a coordinator, until the critic approves or the turns are used up.
import { describe, expect, test } from 'vitest';
import { compaction } from '../src/capabilities/index.ts';
import { coordinator } from '../src/chat/index.ts';
import type { Collaboration, CollaborationEvent } from '../src/collaboration/index.ts';
import { BoardTool, CollaborationState, createCollaboration, llmCollaborator } from '../src/collaboration/index.ts';
import { ResponseContentCheck } from '../src/continuation/index.ts';
import type { ModelRequest } from '../src/inference/index.ts';
import { defineTool } from '../src/entry/index.ts';
import type { ScriptedAnswer, ScriptedModel } from '../src/testing/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../src/testing/index.ts';

const usage = { input: 3, output: 2 };
const mark = '[APPROVED]';
const mind = (answer: (request: ModelRequest) => ScriptedAnswer): ScriptedModel => scriptedModel([answer], { repeatLast: true });

/** The board in the instructions of a turn. */
const versionRead = ({ messages }: ModelRequest): number =>
  Number(/- "description": version (\d+)/.exec(messages.find((message) => message.isSystem())?.text ?? '')?.[1] ?? 0);
/** Number of answers of this participant in the current turn. */
const answersSo = ({ messages }: ModelRequest): number => messages.slice(messages.findLastIndex((message) => message.isUser())).length - 1;
const next: Readonly<Record<string, string>> = { input: 'writer', writer: 'checker', checker: 'critic', critic: 'writer' };

interface Cast {
  /** The version that the critic is content with. */
  readonly contentWith: number;
  readonly by: 'mark' | 'approval';
}

let processes = 0;

/** A new process: all that it has in common with the last one is what it reads. */
function cast({ contentWith, by }: Cast) {
  const looked: string[] = [];
  const models = {
    writer: mind((request) => {
      const version = versionRead(request) + 1;
      if (answersSo(request) > 0) return { text: `Version ${version} is on the board. ${'It boils water. '.repeat(12)}`, usage };
      const args = { artifact: 'description', content: `Kettle ${version}.` };
      return { toolCalls: [{ name: BoardTool.Write, args, id: `w${version}` }], usage };
    }),
    checker: mind((request) => {
      const done = answersSo(request);
      if (done === 0) return { toolCalls: [{ name: BoardTool.Read, args: { artifact: 'description' } }], usage };
      return done === 2 ? { toolCalls: [{ name: 'look_up', args: { claim: 'It boils.' } }], usage } : { text: 'The facts hold.', usage };
    }),
    critic: mind((request) => {
      const version = versionRead(request);
      if (version < contentWith) return { text: `Version ${version} is dull.`, usage };
      if (by === 'mark') return { text: `${mark} Version ${version} sings.`, usage };
      return answersSo(request) > 0
        ? { text: 'I am content.', usage }
        : { toolCalls: [{ name: BoardTool.Approve, args: { artifact: 'description', note: 'It sings.' } }], usage };
    }),
    coordinator: mind(({ messages }) => {
      const speakers = [...(messages.at(-1)?.text ?? '').matchAll(/^\{"speaker":"(\w+)"/gm)].map(([, name = '']) => name);
      return { text: JSON.stringify({ participant: next[speakers.at(-1) ?? ''] ?? 'writer', reason: 'whose turn it is' }), usage };
    }),
    summary: mind(({ messages }) => ({ text: `They talked (${messages.length}).`, usage })),
  };
  const lookUp = defineTool({
    name: 'look_up',
    description: 'Looks a claim up.',
    input: { type: 'object', properties: { claim: { type: 'string' } }, required: ['claim'] } as const,
    run: ({ claim }) => {
      looked.push(claim);
      return 'true';
    },
  });
  const [clock, ids] = [createFakeClock(), createCountingIds(`process-${(processes += 1)}`)];
  const collaborators = [
    llmCollaborator({
      name: 'writer',
      model: models.writer,
      instructions: 'You write.',
      capabilities: [compaction({ model: models.summary, maxTokens: 120, maxBufferTokens: 60 })],
    }),
    llmCollaborator({ name: 'critic', model: models.critic, instructions: 'You judge.' }),
    llmCollaborator({ name: 'checker', model: models.checker, tools: [lookUp] }),
  ] as const;
  const shared = { collaborators, selector: coordinator({ model: models.coordinator }), ports: { clock, ids } };
  const collaboration: Collaboration =
    by === 'approval'
      ? createCollaboration({ ...shared, done: { approvedBy: ['critic'], artifact: 'description' }, limits: { steps: 12 } })
      : createCollaboration({
          ...shared,
          limits: { steps: 12 },
          criteria: [
            new ResponseContentCheck<CollaborationState, string>(
              ({ currentStep }) => currentStep?.outputMessages.at(-1)?.text,
              (text) => !text.includes(mark),
            ),
          ],
        });
  const start = CollaborationState.empty({ clock, ids }).withUserMessage('Describe the kettle.', { ids });
  return { collaboration, models, looked, start };
}

const round = ['writer', 'checker', 'critic'];
const order = ({ steps }: CollaborationState) => steps.map(({ participant }) => participant);
const contents = ({ board }: CollaborationState) =>
  board.get('description')?.versions.map(({ version, content, author }) => [version, content, author]);
const roundTrip = (state: CollaborationState): CollaborationState => CollaborationState.fromJSON(JSON.parse(JSON.stringify(state)));
const kettles = (count: number) => Array.from({ length: count }, (_, index) => [index + 1, `Kettle ${index + 1}.`, 'writer']);

const ends = [
  { what: 'never content', contentWith: 99, by: 'mark', turns: 12, stopReason: 'steps_limit', resolvedBy: 'StepsLimit' },
  { what: 'never content', contentWith: 99, by: 'approval', turns: 12, stopReason: 'steps_limit', resolvedBy: 'StepsLimit' },
  { what: 'content at once', contentWith: 1, by: 'mark', turns: 3, stopReason: 'completed', resolvedBy: 'EveryoneHasSpoken' },
  { what: 'content with the third', contentWith: 3, by: 'mark', turns: 9, stopReason: 'completed', resolvedBy: 'EveryoneHasSpoken' },
  { what: 'content with the third', contentWith: 3, by: 'approval', turns: 9, stopReason: 'completed', resolvedBy: 'TaskCompletion' },
] as const;

describe.each(ends)('a critic who is $what, by $by', ({ turns, stopReason, resolvedBy, ...critic }) => {
  test('ends it rightly', async () => {
    const { collaboration, start, looked } = cast(critic);
    const end = await collaboration.run(start);
    expect([end.stopReason, end.lastContinuationOutcome?.resolvedBy, end.stepCount]).toStrictEqual([stopReason, resolvedBy, turns]);
    expect(order(end)).toStrictEqual(Array.from({ length: turns }, (_, index) => round[index % 3]));
    expect(new Set(end.steps.map(({ selection }) => selection?.by))).toStrictEqual(new Set(['coordinator']));
    expect([contents(end), looked.length]).toStrictEqual([kettles(turns / 3), turns / 3]);
    expect(end.steps[1]?.inner).toMatchObject({ stopReason: 'completed', calls: [{ tool: 'read_artifact' }, { tool: 'look_up' }] });
    if (critic.by === 'approval' && stopReason === 'completed')
      expect(end.approvals).toStrictEqual([{ by: 'critic', artifact: 'description', version: 3, note: 'It sings.' }]);
  });

  test('stored after every turn and taken up elsewhere, it goes on with the right one, to the same end', async () => {
    const first = cast(critic);
    const straight = await first.collaboration.run(first.start);
    let state = roundTrip(first.start);
    for (let number = 1; number <= turns; number += 1) {
      const elsewhere = cast(critic).collaboration;
      expect(elsewhere.hasNextStep(state)).toBe(true);
      state = roundTrip(await elsewhere.nextStep(state));
      expect([state.stepCount, state.currentStep?.participant]).toStrictEqual([number, round[(number - 1) % 3]]);
    }
    expect(cast(critic).collaboration.hasNextStep(state)).toBe(false);
    expect([state.stopReason, state.usage, contents(state), state.transcript]).toStrictEqual([
      straight.stopReason,
      straight.usage,
      contents(straight),
      straight.transcript,
    ]);
    expect(state.steps.map(({ window, changes }) => [window?.folded, window?.buffered, window?.summary?.text, changes])).toStrictEqual(
      straight.steps.map(({ window, changes }) => [window?.folded, window?.buffered, window?.summary?.text, changes]),
    );
  });

  test('taken up once, after any one turn, it comes to the same end', async () => {
    const first = cast(critic);
    const straight = await first.collaboration.run(first.start);
    let state = first.start;
    for (let number = 1; number < turns; number += 1) {
      state = await first.collaboration.nextStep(state);
      const end = await cast(critic).collaboration.run(roundTrip(state));
      expect([end.stopReason, order(end), contents(end), end.usage]).toStrictEqual([
        straight.stopReason,
        order(straight),
        contents(straight),
        straight.usage,
      ]);
    }
  });
});

describe('the window of the writer', () => {
  test('overflows: what is old is read as a summary, and nothing is lost of the conversation', async () => {
    const { collaboration, start, models } = cast({ contentWith: 99, by: 'mark' });
    const events: CollaborationEvent[] = [];
    const end = await collaboration.run(start, { onEvent: (event) => events.push(event) });
    expect(models.summary.calls.length).toBeGreaterThan(0);
    const windows = end.steps.flatMap(({ participant, window }) => (window === undefined ? [] : [[participant, window] as const]));
    expect(new Set(windows.map(([participant]) => participant))).toStrictEqual(new Set(['writer']));
    const last = windows.at(-1)?.[1];
    expect([last?.summary?.text.includes('They talked'), (last?.folded ?? 0) > 0]).toStrictEqual([true, true]);
    const read = models.writer.calls.at(-1)?.messages.map(({ text }) => text) ?? [];
    expect(read.some((text) => text.includes('They talked'))).toBe(true);
    expect(read.some((text) => text.includes('Version 1 is on the board'))).toBe(false);
    // The others read all of it, and so does whoever reads the state.
    expect(models.critic.calls.at(-1)?.messages.some(({ text }) => text.includes('Version 1 is on the board'))).toBe(true);
    expect([end.messages.length, end.transcript[0]?.text, end.transcript[1]?.speaker]).toStrictEqual([
      13,
      'Describe the kettle.',
      'writer',
    ]);
    // What the summaries and the choices have used counts.
    const asked = Object.values(models).reduce((sum, { calls }) => sum + calls.length, 0);
    expect(end.usage.total).toBe(asked * 5);
    const reported = events.flatMap((event) => (event.type === 'HookReported' ? [event.participant] : []));
    expect([reported.length > 0, new Set(reported)]).toStrictEqual([true, new Set(['writer'])]);
  });
});
