import { describe, expect, test } from 'vitest';
import { Usage } from '../messages/index.ts';
import type { Script } from '../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import { createStepByStep } from './step-by-step.ts';
import type { Answer, PendingStep, Wait } from './waiting.ts';
import { getOpenWaits, withAnswer } from './waiting.ts';

const waits = {
  approval: { type: 'approval', id: 'call-1', toolName: 'send_mail', args: { to: 'ann' } },
  'client-tool': { type: 'client-tool', id: 'call-1', toolName: 'read_clipboard', args: {} },
  'unknown-call': { type: 'unknown-call', id: 'call-1', toolName: 'pay', args: { amount: 5 } },
  person: { type: 'person', id: 'call-1', prompt: 'Which one?' },
  provider: { type: 'provider', id: 'call-1', reason: '503', since: 0, tries: 1, nextTryAt: 30, giveUpAt: 60 },
  grant: { type: 'grant', id: 'call-1', limit: 'steps' },
} as const satisfies Record<Wait['type'], Wait>;

const answers = {
  approved: { type: 'approved', id: 'call-1' },
  rejected: { type: 'rejected', id: 'call-1', reason: 'too risky' },
  answered: { type: 'answered', id: 'call-1', value: 'blue' },
} as const satisfies Record<Answer['type'], Answer>;

function pendingOn(...list: readonly Wait[]): PendingStep {
  const partial = { id: 'step-1', outputMessages: [], usage: Usage.none(), errors: [] };
  return { number: 1, partial, waits: list, answers: [], startedAt: 0, parkedAt: 0, activeMs: 0, waitedMs: 0 };
}

const byApproval = 'Answer it with approve(id) or reject(id, reason)';
const byOutput = 'Answer it with answer(id, value) or reject(id, reason)';
const byWords = 'Answer it with answer(id, value)';
const byRetry = 'Answer it with retryNow()';
const byGrant = 'Answer it with grant(amounts)';

describe('which answer settles which wait', () => {
  test.each([
    ['approval', 'approved', undefined],
    ['approval', 'rejected', undefined],
    ['approval', 'answered', byApproval],
    ['client-tool', 'approved', byOutput],
    ['client-tool', 'rejected', undefined],
    ['client-tool', 'answered', undefined],
    ['unknown-call', 'approved', byOutput],
    ['unknown-call', 'rejected', undefined],
    ['unknown-call', 'answered', undefined],
    ['person', 'approved', byWords],
    ['person', 'rejected', byWords],
    ['person', 'answered', undefined],
    ['provider', 'approved', byRetry],
    ['provider', 'rejected', byRetry],
    ['provider', 'answered', byRetry],
    ['grant', 'approved', byGrant],
    ['grant', 'rejected', byGrant],
    ['grant', 'answered', byGrant],
  ] as const)('%s, %s: %s', (wait, answer, way) => {
    const pending = pendingOn(waits[wait]);
    if (way === undefined) {
      const settled = withAnswer(pending, answers[answer]);
      expect(settled.answers).toStrictEqual([answers[answer]]);
      expect(getOpenWaits(settled)).toStrictEqual([]);
    } else {
      const message = `"call-1" is a wait of type ${wait}. ${way}.`;
      expect(() => withAnswer(pending, answers[answer])).toThrow(expect.objectContaining({ code: 'invalid-argument', message }) as Error);
    }
    expect(pending.answers).toStrictEqual([]);
  });
});

describe('an answer that settles nothing', () => {
  test('to an unknown id says what is waited for', () => {
    const pending = pendingOn({ ...waits.approval, id: 'a' }, { ...waits.person, id: 'b' });
    expect(() => withAnswer(pending, answers.approved)).toThrow(
      expect.objectContaining({
        code: 'not-waiting',
        waitId: 'call-1',
        open: ['a', 'b'],
        message: 'No wait has the id "call-1". Answer one of a, b.',
      }) as Error,
    );
  });

  test('names only what is still open', () => {
    const pending = withAnswer(pendingOn({ ...waits.approval, id: 'a' }, { ...waits.person, id: 'b' }), { type: 'approved', id: 'a' });
    expect(() => withAnswer(pending, answers.approved)).toThrow('Answer one of b.');
  });

  test('where nothing waits says so', () => {
    expect(() => withAnswer(undefined, answers.approved)).toThrow(
      expect.objectContaining({
        code: 'not-waiting',
        open: [],
        message: 'No wait has the id "call-1". Nothing is waiting for an answer.',
      }) as Error,
    );
  });

  test('given a second time leaves the first', () => {
    const pending = withAnswer(pendingOn(waits.approval), answers.approved);
    expect(() => withAnswer(pending, answers.rejected)).toThrow(
      expect.objectContaining({
        code: 'already-answered',
        waitId: 'call-1',
        message: '"call-1" was already answered. The first answer counts. Run the state to continue.',
      }) as Error,
    );
    expect(pending.answers).toStrictEqual([answers.approved]);
  });
});

const createApproval = (id: string): Wait => ({ type: 'approval', id, toolName: 'delete', args: { file: id } });

async function parkedOn(...list: readonly Wait[]) {
  const clock = createFakeClock();
  const ids = createCountingIds();
  const script: Script = [{ text: 'May I?', hasToolCalls: true, waits: list }, { text: 'Done.' }];
  const orchestrator = createStepByStep(createScriptedProcess(script), { clock, ids });
  const parked = await orchestrator.run(ScriptedState.empty({ clock, ids }).withUserMessage('Tidy up.', { ids }));
  return { orchestrator, parked };
}

const getAnswers = (state: ScriptedState): readonly Answer[] | undefined => state.stepResults[0]?.step.answers;

describe('answering a state', () => {
  test('is a pure transition: the state that was asked waits on', async () => {
    const { parked } = await parkedOn(createApproval('a'));
    const before = JSON.stringify(parked);
    const approved = parked.approve('a');
    expect([approved.status, approved.waitingFor, approved.execution.id]).toStrictEqual(['in_progress', [], parked.execution.id]);
    expect([parked.status, parked.waitingFor]).toStrictEqual(['waiting', [createApproval('a')]]);
    expect(JSON.stringify(parked)).toBe(before);
  });

  test('two people who answer the same state differently get two states', async () => {
    const { orchestrator, parked } = await parkedOn(createApproval('a'));
    const [yes, no] = await Promise.all([orchestrator.run(parked.approve('a')), orchestrator.run(parked.reject('a', 'no'))]);
    expect(getAnswers(yes)).toStrictEqual([{ type: 'approved', id: 'a' }]);
    expect(getAnswers(no)).toStrictEqual([{ type: 'rejected', id: 'a', reason: 'no' }]);
  });

  test('takes edited arguments in the form in which they are stored', async () => {
    const { orchestrator, parked } = await parkedOn(createApproval('a'));
    const end = await orchestrator.run(parked.approve('a', { args: { on: new Date(0), gone: undefined } }));
    expect(getAnswers(end)).toStrictEqual([{ type: 'approved', id: 'a', args: { on: '1970-01-01T00:00:00.000Z' } }]);
  });

  test('takes any value for an answer, also none', async () => {
    const { orchestrator, parked } = await parkedOn(
      { type: 'person', id: 'a' },
      { type: 'client-tool', id: 'b', toolName: 'read', args: {} },
    );
    const end = await orchestrator.run(parked.answer('a', 'blue').answer('b', undefined));
    expect(getAnswers(end)).toStrictEqual([
      { type: 'answered', id: 'a', value: 'blue' },
      { type: 'answered', id: 'b', value: null },
    ]);
  });

  test('refuses a value that cannot be stored, with its place', async () => {
    const { parked } = await parkedOn(createApproval('a'), { type: 'person', id: 'b' });
    expect(() => parked.answer('b', { seen: new Set(['x']) })).toThrow(
      expect.objectContaining({
        code: 'invalid-argument',
        message: 'The answer cannot be stored: seen is a Set; turn it into an array. Pass plain JSON data.',
      }) as Error,
    );
    expect(() => parked.approve('a', { args: new Map() })).toThrow('The edited arguments cannot be stored: it is a Map');
  });

  test('leaves open what was not answered; running on with a part of the answers parks again', async () => {
    const { orchestrator, parked } = await parkedOn(createApproval('a'), createApproval('b'), createApproval('c'));
    const partly = parked.approve('b');
    expect([partly.status, partly.waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', ['a', 'c']]);
    expect(orchestrator.hasNextStep(partly)).toBe(true);

    const again = await orchestrator.run(partly);
    expect([again.status, again.waitingFor.map(({ id }) => id), again.stepCount]).toStrictEqual(['waiting', ['a', 'c'], 0]);
    expect(orchestrator.hasNextStep(again)).toBe(false);
    expect(() => again.approve('b')).toThrow(expect.objectContaining({ code: 'not-waiting' }) as Error);

    const end = await orchestrator.run(again.reject('a', 'keep it').approve('c'));
    expect([end.status, end.stepCount, end.execution.number]).toStrictEqual(['completed', 2, 1]);
    expect(getAnswers(end)?.map(({ type, id }) => `${id} ${type}`)).toStrictEqual(['b approved', 'a rejected', 'c approved']);
  });

  test.each(['approve', 'answer', 'reject'] as const)('%s is refused where nothing waits', async (way) => {
    const { orchestrator, parked } = await parkedOn(createApproval('a'));
    const end = await orchestrator.run(parked.approve('a'));
    expect(() => end[way]('a', 'x')).toThrow(expect.objectContaining({ code: 'not-waiting' }) as Error);
  });

  test('running a waiting state that nobody answered does nothing', async () => {
    const { orchestrator, parked } = await parkedOn(createApproval('a'));
    expect(orchestrator.hasNextStep(parked)).toBe(false);
    expect(await orchestrator.run(parked)).toBe(parked);
    expect(await orchestrator.nextStep(parked)).toBe(parked);
  });
});
