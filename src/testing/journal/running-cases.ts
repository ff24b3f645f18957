// Failures, waits, ends and values: everything a journal has to record besides successful steps.
import { ErrorPolicy } from '../../errors/index.ts';
import { runDurably } from '../../journal/index.ts';
import type { Json } from '../../lib/index.ts';
import { SteplineError } from '../../lib/index.ts';
import { holds, same } from '../conformance.ts';
import type { CrashPlan } from './crash-plan.ts';
import { callFour, createJournalAgent } from './journal-agent.ts';
import type { JournalCases } from './journal-stage.ts';
import { fourCalls, JournalStage, toEnding } from './journal-stage.ts';

/** Values that JSON or an engine would change if they were not made canonical first. */
const oddValues: readonly unknown[] = [
  { date: new Date(0), none: undefined, list: [undefined, Number.NaN, -0, Infinity] },
  { half: '\uD800 half', nul: 'a\0b', big: 12345678901234567890n, key: { '\uDC00': 1 } },
  'text \u2028 \u2029 \u{1F600} \\u0000 "quoted"',
  [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]],
];

const isGatewayDown = { type: 'model', code: 'http-503', message: 'no capacity', retryable: true } as const;

const errorCode = (error: unknown): string => (SteplineError.is(error) ? error.code : String(error));

export const runningCases: JournalCases = {
  'a tool that throws is called once, and its failure is recorded': async (stage) => {
    const calls: number[] = [];
    const agent = createJournalAgent({
      run: ({ index }) => {
        calls.push(index);
        throw new Error(`no ${index}`);
      },
    });
    same(await stage.run('Go.', [], { agent }), { status: 'completed', text: 'End', steps: 2 }, 'end');
    same([...calls].sort(), [0, 1, 2, 3], 'calls');
  },
  'a failed run ends the execution with its failure, and the engine does not retry it': async (stage) => {
    const agent = createJournalAgent({ run: () => Promise.reject(new Error('broken')), errors: ErrorPolicy.stopOnAnyError() });
    const ending = await stage.run('Go.', [], { agent });
    same([ending.status, stage.attempts], ['failed', 1], 'end');
  },
  'waits of more than a second before a retry use the sleep of the engine, even if the attempt ends during one': async (stage) => {
    const runSleep = async (other: JournalStage, plans: readonly CrashPlan[]): Promise<void> => {
      let tries = 0;
      const slept: number[] = [];
      const agent = createJournalAgent({
        run: () => 'done',
        errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 1500, capMs: 1500 }),
        answer: (step) => {
          if (step === 1 && (tries += 1) === 1) return { error: isGatewayDown };
          return step === 0 ? callFour(0) : { text: 'End' };
        },
      });
      const ending = await other.execute(plans, async (engine, attempt) => {
        const counted = { ...engine, sleep: (ms: number) => (slept.push(ms), engine.sleep(ms)) };
        const onCommit = other.noteCommit.bind(other, attempt);
        return toEnding(await runDurably(agent, 'Go.', { engine: counted, executionId: other.id, onCommit }));
      });
      same([ending, tries], [{ status: 'completed', text: 'End', steps: 3 }, 2], 'end, and tries of the second answer');
      // If the sleep was not recorded, the time until the next attempt counts, so the remaining wait may be short.
      const isCut = plans.some(({ at, isRecorded }) => at === 'sleepMs' && !isRecorded);
      holds((isCut || slept.length > 0) && slept.every((ms) => ms > 1000 && ms <= 1500), `sleeps of the engine: ${slept.join(', ')}`);
      other.check();
    };
    await runSleep(stage, []);
    const plans = (['sleepMs', 'sleep'] as const).flatMap((at) => [true, false].map((isRecorded) => ({ at, isRecorded })));
    await Promise.all(plans.map((plan) => runSleep(new JournalStage(stage.world), [plan])));
  },
  'an execution can wait for an approval between two runs': async (stage) => {
    const agent = stage.createAgent();
    const order = `${fourCalls(1)}; look 21 & put 22 & note 23 & pay 24; say Paid`;
    const runBoth = (other: JournalStage, plans: readonly CrashPlan[]): Promise<Json> =>
      other.execute(plans, async (engine, attempt) => {
        const options = { engine, executionId: other.id, onCommit: other.noteCommit.bind(other, attempt) };
        const own = other === stage ? agent : other.createAgent();
        const waiting = await runDurably(own, order, options);
        if (waiting.status !== 'waiting') return toEnding(waiting);
        const [wait] = waiting.waitingFor;
        return toEnding(await runDurably(own, waiting.state.approve(wait?.id ?? ''), options));
      });
    const wanted = { status: 'completed', text: 'Paid', steps: 3 };
    same(await runBoth(stage, []), wanted, 'end');
    stage.check();
    await Promise.all(
      Array.from({ length: stage.operations[0] ?? 0 }, async (_, place) => {
        const other = new JournalStage(stage.world);
        same(await runBoth(other, [{ at: place, isRecorded: place % 2 === 0 }]), wanted, `end after a crash at operation ${place}`);
        other.check();
      }),
    );
  },
  'a cancelled run ends as stopped, and is still stopped on replay': async (stage) => {
    const runCancelled = (other: JournalStage, plans: readonly CrashPlan[]): Promise<Json> =>
      other.execute(plans, async (engine) => {
        const abort = new AbortController();
        const run = ({ index, signal }: { readonly index: number; readonly signal: AbortSignal }): unknown => {
          if (index === 3) abort.abort('enough');
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('aborted')));
          });
        };
        const agent = createJournalAgent({ run });
        const result = await runDurably(agent, 'Go.', { engine, executionId: other.id, signal: abort.signal });
        return [result.status, result.status === 'stopped' ? result.stopReason : '', result.state.stepCount];
      });
    const plain = await runCancelled(stage, []);
    same(plain, ['stopped', 'user_requested', 1], 'end');
    const other = new JournalStage(stage.world);
    same(await runCancelled(other, [{ at: 'end', isRecorded: true }]), plain, 'end after a crash behind it');
    same(other.attempts, 2, 'attempts');
  },
  'recorded values are unchanged when they are read again': async (stage) => {
    const agent = createJournalAgent({ run: ({ index }) => oddValues[index] });
    const runValues = (other: JournalStage, plans: readonly CrashPlan[]): Promise<Json> =>
      other.execute(plans, async (engine) => {
        const { state } = await runDurably(agent, 'Go.', { engine, executionId: 'the-execution' });
        return [...state.messages].flatMap((message) => (message.role === 'tool' ? [message.text] : []));
      });
    const plain = await runValues(stage, []);
    for (const at of ['commit', 'end'] as const) {
      const other = new JournalStage(stage.world);
      same(await runValues(other, [{ at, isRecorded: true }]), plain, `values after a crash behind the ${at}`);
    }
  },
  'a row that is too large is rejected with unrecordable-row': async (stage) => {
    const agent = createJournalAgent({ run: () => 'x'.repeat(50_000) });
    const code = await stage.execute([], async (engine) =>
      runDurably(agent, 'Go.', { engine, executionId: stage.id, maxRecordBytes: 40_000 }).then(({ status }) => status, errorCode),
    );
    same(code, 'unrecordable-row', 'error');
  },
  'rows of half a megabyte are recorded': async (stage) => {
    const agent = createJournalAgent({ run: ({ index }) => String(index).repeat(500_000) });
    same(await stage.run('Go.', [{ at: 'commit', isRecorded: true }], { agent }), { status: 'completed', text: 'End', steps: 2 }, 'end');
  },
  'a run with maxSteps continues in further executions': async (stage) => {
    const order = `${[1, 2, 3, 4, 5].map(fourCalls).join('; ')}; say End`;
    const agent = stage.createAgent();
    const endings: Json[] = [];
    let stored: unknown;
    let wallStartedAt: number | undefined;
    const events: (Json | undefined)[] = [];
    for (let part = 1; part < 10; part += 1) {
      const begin = stored === undefined ? order : agent.restore(stored);
      const commits = new Map<number, readonly (Json | undefined)[]>();
      const next = await stage.world.execute(`${stage.id}-${part}`, async ({ engine }) => {
        const options = { engine, executionId: stage.id, maxSteps: 2, ...(wallStartedAt !== undefined && { wallStartedAt }) };
        let count = 0;
        const onCommit = ({ events: numbered }: { readonly events: readonly { readonly [key: string]: Json }[] }): void => {
          commits.set(
            (count += 1),
            numbered.map(({ seq }) => seq),
          );
        };
        const result = await runDurably(agent, begin, { ...options, onCommit });
        const { status, state } = result;
        const startedAt = result.status === 'unfinished' ? result.wallStartedAt : 0;
        return { status, startedAt, steps: state.stepCount, state: JSON.stringify(agent.states.encode(state)) };
      });
      events.push(...[...commits.values()].flat());
      endings.push([next.status, next.steps]);
      if (next.status !== 'unfinished') break;
      stored = JSON.parse(next.state);
      wallStartedAt = next.startedAt;
    }
    const wanted = [
      ['unfinished', 2],
      ['unfinished', 4],
      ['completed', 6],
    ];
    same(endings, wanted, 'ends');
    same(
      events,
      Array.from(events, (_, index) => index + 1),
      'numbers of the events',
    );
    same(new Set(stage.lines).size, stage.lines.length, 'different lines of effects');
  },
};
