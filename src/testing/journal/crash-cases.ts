// Attempts that crash at any moment, and the attempt that continues.
import { runDurably } from '../../journal/index.ts';
import { holds, same } from '../conformance.ts';
import type { CrashPlan } from './crash-plan.ts';
import type { JournalCases } from './journal-stage.ts';
import { fourCalls, JournalStage, toEnding } from './journal-stage.ts';

const order = `${fourCalls(1)}; ${fourCalls(2)}; say End`;
const wanted = { status: 'completed', text: 'End', steps: 3 };

/** Runs the order once for each operation of a run, with the crashes planned for it. */
async function crashEverywhere(stage: JournalStage, toPlans: (place: number) => readonly CrashPlan[]): Promise<void> {
  await stage.run(order);
  const places = Array.from({ length: stage.operations[0] ?? 0 }, (_, place) => place);
  holds(places.length > 3, 'a run of three steps took three operations or less: nothing was recorded');
  const runAt = async (place: number): Promise<number> => {
    const other = new JournalStage(stage.world);
    same(await other.run(order, toPlans(place)), wanted, `end after a crash at operation ${place}`);
    other.check();
    return other.attempts;
  };
  const attempts = await Promise.all(places.map(runAt));
  holds(Math.max(...attempts) > 1, 'no execution was tried again after its crash');
}

export const crashCases: JournalCases = {
  'takes each step once and calls each tool once without a crash': async (stage) => {
    same(await stage.run(order), wanted, 'end');
    same(stage.lines.filter((line) => !line.startsWith('model')).length, 8, 'calls');
    same(stage.attempts, 1, 'attempts');
    stage.check();
  },
  'reaches the same end after a crash at any operation, before it is recorded': (stage) =>
    crashEverywhere(stage, (place) => [{ at: place, isRecorded: false }]),
  'reaches the same end after a crash at any operation, after it is recorded': (stage) =>
    crashEverywhere(stage, (place) => [{ at: place, isRecorded: true }]),
  'reaches the same end after three crashes, each further along': (stage) =>
    crashEverywhere(stage, (place) => [0, 1, 2].map((more) => ({ at: place + more, isRecorded: more % 2 === 0 }))),
  'does not repeat recorded steps or their model calls': async (stage) => {
    await stage.run(order, [{ at: 'end', isRecorded: false }]);
    same(stage.attempts, 2, 'attempts');
    same(new Set(stage.lines).size, stage.lines.length, `different lines of effects (${stage.lines.join(', ')})`);
  },
  'passes the same commits to the host in every attempt': async (stage) => {
    await stage.run(order, [{ at: 'end', isRecorded: true }]);
    same(stage.attempts, 2, 'attempts');
    const [first, second] = stage.commits.map((commits) => commits.map(({ change, events }) => ({ change, events })));
    same(second, first, 'commits');
    same([first?.length, stage.commits[1]?.every(({ isReplayed }) => isReplayed)], [3, true], 'replayed commits');
  },
  'gives messages and executions the same ids in every attempt': async (stage) => {
    const toIds = async (plans: readonly CrashPlan[]): Promise<readonly string[]> => {
      const other = new JournalStage(stage.world);
      const { ids } = await other.execute(plans, async (engine) => {
        const { state } = await runDurably(other.createAgent(), order, { engine, executionId: 'the-execution' });
        return { ids: [state.id, state.execution.id ?? '', ...[...state.messages].map(({ id }) => id)] };
      });
      return ids;
    };
    const plain = await toIds([]);
    same(new Set(plain).size, plain.length, 'different ids');
    for (const at of [1, 'commit', 'end'] as const) same(await toIds([{ at, isRecorded: false }]), plain, `ids after a crash (${at})`);
    same(plain[1], 'the-execution', 'id of the execution');
  },
  'continues with a new build of the agent after a crash': async (stage) => {
    const ending = await stage.execute([{ at: 'commit', isRecorded: true }], async (engine, attempt) => {
      const agent = stage.createAgent(String(attempt));
      const result = await runDurably(agent, order, {
        engine,
        executionId: stage.id,
        onCommit: (commit) => stage.noteCommit(attempt, commit),
      });
      const { agent: first, resumedBy = [] } = result.state.execution;
      return { ...toEnding(result), releases: [first, ...resumedBy].map((identity) => identity?.['version'] ?? null) };
    });
    same(ending, { ...wanted, releases: ['1', '2'] }, 'end');
    stage.check();
  },
};
