// People who approve, reject, cancel, grant, or say nothing.
import { defineClientTool } from '../../../src/entry/index.ts';
import { scriptedModel } from '../../../src/entry/testing.ts';
import type { Desk } from '../desk.ts';
import { ann, bob, createDesk, getOnlyWait, readDesk, sessionId, waitForStatus } from '../desk.ts';
import type { Fault } from '../fault.ts';
import { forged, poison } from '../poison.ts';
import { anyInput, call, createTool, say } from '../props.ts';

const pay = createTool('pay', () => 'paid', { needsApproval: true });
const dig = createTool('dig', () => 'more to dig');
const finished = /no tool|no call|no work/i;
const payOnce = (desk: Desk, more: readonly ReturnType<typeof say>[] = [say('Done.')]) =>
  desk.agent({
    model: scriptedModel([call({ name: 'pay', id: 'pay-1', args: { euros: 250, password: 'correct-horse-battery' } }), ...more]),
    tools: [pay],
  });
const digForEver = (desk: Desk, limits: object) =>
  desk.agent({ model: scriptedModel([call('dig')], { repeatLast: true }), tools: [dig], limits: { ...limits, onLimit: 'pause' } });

export const peopleFaults: readonly Fault[] = [
  {
    name: 'a call that waits for approval',
    stage: async () => {
      const desk = createDesk();
      return readDesk(desk, await desk.open(payOnce(desk), { text: `Pay! ${poison}` }));
    },
    truth: { status: 'waiting', reason: [/approval/, 'pay', 'pay-1'], step: 1 },
  },
  {
    name: 'a call that a person rejected',
    stage: async () => {
      const desk = createDesk();
      const runtime = await desk.open(payOnce(desk, [say('Then not.')]));
      await desk.wait(runtime.reject(sessionId, await getOnlyWait(runtime), { by: bob, reason: `too expensive ${poison}` }));
      return readDesk(desk, runtime);
    },
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 2,
      also: ['pay', 'rejected', 'bob', 'too expensive', /step 1\b/i],
    },
  },
  {
    name: 'a waiting session that a person cancels',
    stage: async () => {
      const desk = createDesk();
      const runtime = await desk.open(payOnce(desk));
      await desk.wait(runtime.cancel(sessionId, `customer withdrew ${poison}`, { by: bob }));
      return readDesk(desk, runtime);
    },
    truth: { status: 'stopped', rule: 'StopRequested', reason: ['customer withdrew', 'bob'], step: 1, also: ['pay'] },
  },
  {
    name: 'a running session that a person cancels',
    stage: async () => {
      const desk = createDesk();
      let reach = (): void => undefined;
      const reached = new Promise<void>((resolve) => (reach = resolve));
      const crawl = createTool('crawl', () => {
        reach();
        return new Promise(() => undefined);
      });
      const runtime = desk.start([desk.agent({ model: scriptedModel([call('crawl')]), tools: [crawl] })]);
      await runtime.create({ id: sessionId }, { by: ann });
      const sent = runtime.send(sessionId, 'Crawl.', { by: ann });
      await reached;
      await desk.wait(runtime.cancel(sessionId, `wrong customer${forged}`, { by: bob }));
      await sent;
      return readDesk(desk, runtime);
    },
    truth: {
      status: 'stopped',
      rule: 'StopRequested',
      reason: ['wrong customer', 'bob'],
      step: 1,
      also: ['crawl', /may or may not have/],
    },
  },
  {
    name: 'an approval that nobody gave in time',
    stage: async () => {
      const desk = createDesk();
      const runtime = await desk.open(payOnce(desk, [say('Nobody answered.')]), {
        approvals: { expireAfterMs: 60_000, whenExpired: 'reject' },
      });
      await desk.clock.advance(60_000);
      await waitForStatus(runtime, 'completed');
      return readDesk(desk, runtime);
    },
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 2,
      also: ['pay', /expired|in time|nobody answered/, /step 1\b/i],
    },
  },
  {
    name: 'an approval that was given because its time was up',
    stage: async () => {
      const desk = createDesk();
      const runtime = await desk.open(payOnce(desk), { approvals: { expireAfterMs: 60_000, whenExpired: 'approve' } });
      await desk.clock.advance(60_000);
      await waitForStatus(runtime, 'completed');
      return readDesk(desk, runtime);
    },
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 2,
      logged: [/expiry approved pay/],
    },
  },
  {
    name: 'a wait that a new message replaced',
    stage: async () => {
      const desk = createDesk();
      const runtime = await desk.open(payOnce(desk, [say('As you wish.')]));
      await desk.wait(runtime.send(sessionId, `Forget it. ${poison}`, { by: bob }));
      return readDesk(desk, runtime);
    },
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 1,
      logged: [/bob.*replaced.*pay/, 'superseded by a new message'],
    },
  },
  {
    name: 'a limit that a person raised, and that was reached again',
    stage: async () => {
      const desk = createDesk();
      const runtime = await desk.open(digForEver(desk, { steps: 2 }));
      await desk.wait(runtime.grant(sessionId, { steps: 3 }, { by: bob }));
      return readDesk(desk, runtime);
    },
    truth: { status: 'waiting', rule: 'StepsLimit', reason: ['5 of 5', /\b2\b.*\b3 (?:were |was )?granted by (?:staff )?bob/], step: 5 },
  },
  {
    name: 'a limit that two people raised one after the other',
    stage: async () => {
      const desk = createDesk();
      const runtime = await desk.open(digForEver(desk, { tokens: 100 }));
      await desk.wait(runtime.grant(sessionId, { tokens: 50 }, { by: bob }));
      await desk.wait(runtime.grant(sessionId, { tokens: 60 }, { by: { id: 'eve', kind: 'staff' } }));
      return readDesk(desk, runtime);
    },
    truth: {
      status: 'waiting',
      rule: 'TokenUsageLimit',
      reason: ['240 of 210', '100 at first', /110 granted by .*bob.* eve/],
      step: 4,
      logged: [/bob granted 50 more tokens/, /eve granted 60 more tokens/],
    },
  },
  {
    name: 'a limit that a person did not raise',
    stage: async () => {
      const desk = createDesk();
      const runtime = await desk.open(digForEver(desk, { steps: 2 }));
      await desk.wait(runtime.reject(sessionId, await getOnlyWait(runtime), { by: bob, reason: `that is enough ${poison}` }));
      return readDesk(desk, runtime);
    },
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['2 of 2'], step: 2, also: ['that is enough', 'bob'] },
  },
  {
    name: 'two limits that a person raised at once',
    stage: async () => {
      const desk = createDesk();
      const runtime = await desk.open(digForEver(desk, { steps: 1 }));
      await desk.wait(runtime.grant(sessionId, { steps: 1, tokens: 1000 }, { by: bob }));
      return readDesk(desk, runtime);
    },
    truth: { status: 'waiting', rule: 'StepsLimit', reason: ['2 of 2', /\b1 (?:was |were )?granted by (?:staff )?bob/], step: 2 },
  },
  {
    name: 'a client tool whose output is awaited',
    stage: async () => {
      const desk = createDesk();
      const pickDate = defineClientTool({ name: 'pick_date', description: 'Picks a date.', input: anyInput });
      return readDesk(
        desk,
        await desk.open(desk.agent({ model: scriptedModel([call({ name: 'pick_date', id: 'date-1' })]), tools: [pickDate] })),
      );
    },
    truth: { status: 'waiting', reason: ['pick_date', 'date-1', /output/], step: 1 },
  },
  {
    name: 'an answer to a client tool that does not fit',
    stage: async () => {
      const desk = createDesk();
      const pickDate = defineClientTool({
        name: 'pick_date',
        description: 'Picks a date.',
        input: anyInput,
        output: { type: 'object', properties: { day: { type: 'number' } }, required: ['day'] },
      });
      const agent = desk.agent({ model: scriptedModel([call({ name: 'pick_date', id: 'date-1' })]), tools: [pickDate] });
      const runtime = await desk.open(agent);
      await desk.wait(runtime.answer(sessionId, await getOnlyWait(runtime), { by: bob, value: { day: 'tomorrow' } }));
      return readDesk(desk, runtime);
    },
    truth: { status: 'waiting', reason: ['pick_date', 'date-1', 'day', 'number'], step: 1 },
  },
];
