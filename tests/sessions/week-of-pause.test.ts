// A conversation that is put away for a week goes on as if it had not been: what counts work goes on, what counts time starts fresh.
import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import type { AgentOptions, AgentState, Agent } from '../../src/entry/index.ts';
import { AgentBuilder, createAgent, defineTool, ErrorPolicy, priceTable, RateLimitedError } from '../../src/entry/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { Desk, Keeper, MakeAgent } from './keepers.ts';
import { keepers } from './keepers.ts';

const week = 7 * 24 * 3_600_000;
const second = 1000;
const usage = { input: 10, output: 5 };
const anything = { type: 'object', properties: {} } as const;
const works = (name = 'look'): ScriptedAnswer => ({ toolCalls: [{ name }], usage });

/** The model's answer at a step of an execution; steps count from 1. */
type Script = (step: number, execution: number) => ScriptedAnswer;

const toEnd =
  (last: number, name = 'look'): Script =>
  (step) =>
    step < last ? works(name) : { text: `Done at ${step}.`, usage };

/** A model that takes a second for each answer, and counts by what it reads. */
function timedModel(desk: Desk, script: Script) {
  return scriptedModel(
    [
      ({ messages }) => {
        const lastUser = messages.findLastIndex((message) => message.isUser());
        const step = messages.slice(lastUser).filter((message) => message.isAssistant()).length + 1;
        desk.onAsked(step);
        desk.clock.skip(second);
        return script(step, messages.filter((message) => message.isUser()).length);
      },
    ],
    { repeatLast: true, ids: desk.ids },
  );
}

function setUpTools() {
  return [
    defineTool({ name: 'look', description: 'Looks.', input: anything, effect: 'pure', run: () => 'seen' }),
    defineTool({ name: 'pay', description: 'Pays.', input: anything, needsApproval: true, run: () => 'paid' }),
    defineTool({
      name: 'fail',
      description: 'Fails.',
      input: anything,
      run: () => {
        throw new Error('broken');
      },
    }),
  ];
}

const setUpAgent =
  (script: Script, options: Partial<AgentOptions> = {}): MakeAgent =>
  (desk) =>
    createAgent({
      id: 'desk',
      model: timedModel(desk, script),
      tools: setUpTools(),
      ports: { clock: desk.clock, ids: desk.ids, random: () => 0.5, onProblem: () => undefined },
      ...options,
    });

interface Row {
  readonly name: string;
  readonly make: MakeAgent;
  readonly check: (keeper: Keeper, aWeek: () => Promise<void>) => Promise<void>;
}

const send = { type: 'send', text: 'Go.' } as const;
const goOn = { type: 'go-on' } as const;
const approve = { type: 'approve' } as const;

const summarizeEnd = ({ stepCount, stopReason, status }: AgentState): unknown => [stepCount, status, stopReason];

const rows: readonly Row[] = [
  {
    name: 'the step count goes on',
    make: setUpAgent(toEnd(99), { limits: { steps: 4 } }),
    check: async (keeper, aWeek) => {
      expect(summarizeEnd(await keeper.perform(send, 2))).toStrictEqual([2, 'in_progress', undefined]);
      await aWeek();
      expect(summarizeEnd(await keeper.perform(goOn))).toStrictEqual([4, 'stopped', 'steps_limit']);
    },
  },
  {
    name: 'the usage goes on',
    make: setUpAgent(toEnd(99), { limits: { tokens: 60 } }),
    check: async (keeper, aWeek) => {
      expect((await keeper.perform(send, 2)).usage.total).toBe(30);
      await aWeek();
      const end = await keeper.perform(goOn);
      expect([summarizeEnd(end), end.usage.total]).toStrictEqual([[4, 'stopped', 'token_limit'], 60]);
    },
  },
  {
    name: 'the cost goes on',
    make: setUpAgent(toEnd(99), {
      price: priceTable({ 'scripted/script': { inputPerMillion: 100_000, outputPerMillion: 0 } }),
      limits: { costUsd: 4 },
    }),
    check: async (keeper, aWeek) => {
      expect((await keeper.perform(send, 2)).cost).toMatchObject({ usd: 2 });
      await aWeek();
      const end = await keeper.perform(goOn);
      expect([summarizeEnd(end), end.cost]).toMatchObject([[4, 'stopped', 'guard'], { usd: 4 }]);
    },
  },
  {
    name: 'failures in a row go on',
    make: setUpAgent((step) => works(step < 9 ? 'fail' : 'look'), { errors: ErrorPolicy.retryToolErrors(3) }),
    check: async (keeper, aWeek) => {
      expect(summarizeEnd(await keeper.perform(send, 2))).toStrictEqual([2, 'in_progress', undefined]);
      await aWeek();
      const end = await keeper.perform(goOn);
      expect([summarizeEnd(end), end.execution.failedSteps]).toStrictEqual([[3, 'failed', 'retry_limit'], 3]);
    },
  },
  {
    name: 'failures that are not in a row start over',
    make: setUpAgent((step) => works(step === 3 ? 'look' : 'fail'), { errors: ErrorPolicy.retryToolErrors(3) }),
    check: async (keeper, aWeek) => {
      await keeper.perform(send, 3);
      await aWeek();
      expect(summarizeEnd(await keeper.perform(goOn))).toStrictEqual([6, 'failed', 'retry_limit']);
    },
  },
  {
    name: 'the active clock goes on',
    make: setUpAgent(toEnd(99), { limits: { activeMs: 4 * second } }),
    check: async (keeper, aWeek) => {
      expect((await keeper.perform(send, 2)).execution.activeMs).toBe(2 * second);
      await aWeek();
      const end = await keeper.perform(goOn);
      expect([summarizeEnd(end), end.execution.activeMs]).toStrictEqual([[4, 'stopped', 'time_limit'], 4 * second]);
    },
  },
  {
    name: 'withCumulativeTimeout counts work and not the week',
    make: (desk) =>
      AgentBuilder.base()
        .withModel(timedModel(desk, toEnd(99)))
        .withTools(...setUpTools())
        .withCumulativeTimeout(4)
        .withPorts({ clock: desk.clock, ids: desk.ids, onProblem: () => undefined })
        .build(),
    check: async (keeper, aWeek) => {
      await keeper.perform(send, 2);
      await aWeek();
      expect(summarizeEnd(await keeper.perform(goOn))).toStrictEqual([4, 'stopped', 'time_limit']);
    },
  },
  {
    name: 'the wall clock starts fresh',
    make: setUpAgent(toEnd(99), { limits: { wallMs: 3 * second } }),
    check: async (keeper, aWeek) => {
      expect(summarizeEnd(await keeper.perform(send, 2))).toStrictEqual([2, 'in_progress', undefined]);
      await aWeek();
      // Three more seconds, not one.
      expect(summarizeEnd(await keeper.perform(goOn))).toStrictEqual([5, 'stopped', 'time_limit']);
    },
  },
  {
    name: 'the start of the wall clock is not kept',
    make: setUpAgent(toEnd(3)),
    check: async (keeper) => {
      await keeper.perform(send, 2);
      expect((await keeper.read()).execution.wallStartedAt).toBeUndefined();
    },
  },
  {
    name: 'each question has its own execution and its own wall clock',
    make: setUpAgent(toEnd(3), { limits: { wallMs: 4 * second } }),
    check: async (keeper, aWeek) => {
      const first = await keeper.perform(send);
      expect(summarizeEnd(first)).toStrictEqual([3, 'completed', 'completed']);
      await aWeek();
      const next = await keeper.perform({ type: 'send', text: 'And now?' });
      expect([summarizeEnd(next), next.execution.number, next.session.stepCount]).toStrictEqual([[3, 'completed', 'completed'], 2, 6]);
      expect(next.execution.startedAt! - first.execution.startedAt!).toBeGreaterThanOrEqual(week);
      expect([next.usage.total, next.execution.activeMs, next.session.usage.total]).toStrictEqual([45, 3 * second, 90]);
    },
  },
  {
    name: 'nothing times out while somebody is waited for, and that time counts nowhere',
    make: setUpAgent((step) => (step === 1 ? works('pay') : toEnd(3)(step, 1)), { limits: { wallMs: 4 * second, activeMs: 4 * second } }),
    check: async (keeper, aWeek) => {
      const waiting = await keeper.perform(send);
      expect([waiting.status, waiting.waitingFor.map(({ type }) => type)]).toStrictEqual(['waiting', ['approval']]);
      await aWeek();
      expect((await keeper.read()).status).toBe('waiting');
      const end = await keeper.perform(approve);
      expect(summarizeEnd(end)).toStrictEqual([3, 'completed', 'completed']);
      const { activeMs, waitedMs } = end.execution;
      expect([activeMs, waitedMs, end.info.cumulativeExecutionSeconds]).toStrictEqual([3 * second, 0, 3]);
      expect(end.stepResults[0]?.timing).toMatchObject({ activeMs: second, waitedMs: 0 });
    },
  },
  {
    name: 'several weeks of waiting are no different from one',
    make: setUpAgent((step) => (step <= 3 ? works('pay') : { text: 'Done.', usage }), { limits: { wallMs: 2 * second, steps: 5 } }),
    check: async (keeper, aWeek) => {
      await keeper.perform(send);
      for (const step of [1, 2]) {
        await aWeek();
        const waiting = await keeper.perform(approve);
        expect([waiting.status, waiting.stepCount]).toStrictEqual(['waiting', step]);
      }
      await aWeek();
      expect(summarizeEnd(await keeper.perform(approve))).toStrictEqual([4, 'completed', 'completed']);
    },
  },
  {
    name: 'grants are kept',
    make: setUpAgent(toEnd(99), { limits: { steps: 2, onLimit: 'pause' } }),
    check: async (keeper, aWeek) => {
      const waiting = await keeper.perform(send);
      expect([waiting.status, waiting.waitingFor.map(({ type }) => type), waiting.stepCount]).toStrictEqual(['waiting', ['grant'], 2]);
      await aWeek();
      await keeper.perform({ type: 'grant', amounts: { steps: 3 } }, 3);
      await aWeek();
      const again = await keeper.perform(goOn);
      // A session also keeps who granted it.
      expect([again.status, again.stepCount, again.execution.grants]).toMatchObject(['waiting', 5, [{ steps: 3 }]]);
      await aWeek();
      const last = await keeper.perform({ type: 'grant', amounts: { steps: 1 } });
      expect([last.stepCount, last.execution.grants]).toMatchObject([6, [{ steps: 3 }, { steps: 1 }]]);
    },
  },
  {
    name: 'a grant of time is judged on a clock that starts fresh',
    make: setUpAgent(toEnd(99), { limits: { activeMs: 2 * second, wallMs: 3 * second, onLimit: 'pause' } }),
    check: async (keeper, aWeek) => {
      expect((await keeper.perform(send)).waitingFor).toMatchObject([{ type: 'grant' }]);
      await aWeek();
      const again = await keeper.perform({ type: 'grant', amounts: { activeMs: 2 * second } });
      expect([again.status, again.stepCount, again.execution.activeMs]).toStrictEqual(['waiting', 4, 4 * second]);
    },
  },
  {
    name: 'a retry that was waited for is made at once',
    make: (desk) => {
      const model = timedModel(desk, toEnd(2));
      let isBusy = true;
      const busy: ScriptedAnswer = { error: new RateLimitedError('busy', { retryAfterMs: 30 * second }) };
      const first = scriptedModel([busy]);
      // Busy at the very first answer of all; a new agent after the week is not.
      const isFirst = desk.clock.monotonic() < 1;
      const turn = (): typeof model => {
        if (!isFirst || !isBusy) return model;
        isBusy = false;
        desk.onAsked(1);
        return first;
      };
      const stream: typeof model.stream = (request, hear) => turn().stream(request, hear);
      return setUpAgent(toEnd(2), { model: { provider: 'x', modelId: 'y', generate: (request) => turn().generate(request), stream } })(
        desk,
      );
    },
    check: async (keeper, aWeek) => {
      const paused = await keeper.perform(send, 1);
      expect([summarizeEnd(paused), paused.lastStepResult?.handling?.delayMs]).toStrictEqual([[1, 'in_progress', undefined], 30 * second]);
      await aWeek();
      const end = await keeper.perform(goOn);
      expect([summarizeEnd(end), end.execution.waitedMs]).toStrictEqual([[3, 'completed', 'completed'], 0]);
    },
  },
  {
    name: 'cumulative seconds are the sum of all steps, and a figure only',
    make: setUpAgent(toEnd(3), { limits: { activeMs: 4 * second } }),
    check: async (keeper, aWeek) => {
      expect((await keeper.perform(send, 2)).info.cumulativeExecutionSeconds).toBe(2);
      await aWeek();
      expect((await keeper.perform(goOn)).info.cumulativeExecutionSeconds).toBe(3);
      await aWeek();
      const end = await keeper.perform({ type: 'send', text: 'And now?' });
      // Six seconds in all are more than the limit of one execution.
      expect([summarizeEnd(end), end.info.cumulativeExecutionSeconds]).toStrictEqual([[3, 'completed', 'completed'], 6]);
      const spent = end.session.executions.flatMap(({ results }) => results.toArray().map(({ timing }) => timing.activeMs));
      expect(spent.reduce((sum, ms) => sum + ms, 0)).toBe(6 * second);
    },
  },
  {
    name: 'when the session began stays what it was',
    make: setUpAgent(toEnd(3)),
    check: async (keeper, aWeek) => {
      const began = keeper.desk.clock.now();
      const paused = await keeper.perform(send, 2);
      await aWeek();
      const end = await keeper.perform(goOn);
      expect([paused.info.startedAt, end.info.startedAt, end.info.id]).toStrictEqual([began, began, paused.info.id]);
      expect(end.execution.startedAt).toBe(paused.execution.startedAt);
      expect(end.info.updatedAt).toBe(keeper.desk.clock.now());
    },
  },
  {
    name: 'a run inside a call waits as well, and its clocks do the same',
    make: (desk) => {
      const inner: Agent = setUpAgent((step) => (step === 1 ? works('pay') : { text: 'Inner done.', usage }), {
        id: 'inner',
        limits: { wallMs: 3 * second, activeMs: 3 * second },
      })(desk);
      const script: Script = (step) =>
        step === 1
          ? { toolCalls: [{ name: 'spawn_subagent', args: { subagent: 'inner', prompt: 'Pay.' } }], usage }
          : { text: 'Outer done.', usage };
      const capabilities = [subAgents({ agents: { inner: { agent: inner, description: 'Pays.' } } })];
      return setUpAgent(script, { capabilities, limits: { wallMs: 5 * second, activeMs: 5 * second } })(desk);
    },
    check: async (keeper, aWeek) => {
      const waiting = await keeper.perform(send);
      expect(waiting.waitingFor).toMatchObject([{ type: 'approval', agent: 'inner' }]);
      await aWeek();
      const end = await keeper.perform(approve);
      expect([summarizeEnd(end), end.text, end.usage.total]).toStrictEqual([[2, 'completed', 'completed'], 'Outer done.', 60]);
      expect([end.execution.activeMs, end.info.cumulativeExecutionSeconds]).toStrictEqual([4 * second, 4]);
    },
  },
];

describe.each(pickSubjects(keepers))('after a week in %s,', (_, keep) => {
  test.each(rows)('$name', async ({ make, check }) => {
    const keeper = keep(make);
    try {
      await check(keeper, () => keeper.desk.clock.advance(week));
    } finally {
      keeper.end();
    }
  });
});
