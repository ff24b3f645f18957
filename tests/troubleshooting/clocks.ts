// Time limits and pauses: active time over days, and limits that count a weekend.
import type { AgentState } from '../../src/entry/index.ts';
import { defineTool, ExecutionTimeLimit } from '../../src/entry/index.ts';
import { scriptedModel } from '../../src/entry/testing.ts';
import { ann, bob, waitForStatus } from '../faults/desk.ts';
import { anyInput, call, createTool, say } from '../faults/props.ts';
import type { Scene } from './scene.ts';
import { createShop, days } from './scene.ts';

/** Two stretches of work with three days between them: together they reach the limit on active time. */
export async function stageActiveTime(): Promise<Scene> {
  const shop = createShop();
  const work = (ms: number): string => {
    shop.clock.skip(ms);
    return 'done';
  };
  const agent = shop.agent({
    id: 'support',
    model: scriptedModel([call('crawl'), call({ name: 'publish', id: 'publish-1' }), call('crawl'), say('Published.')]),
    tools: [createTool('crawl', () => work(40_000)), createTool('publish', () => work(1000), { needsApproval: true })],
    limits: { wallMs: Infinity, activeMs: 60_000 },
  });
  const runtime = shop.run(agent);
  await shop.ask(runtime, 'report-20', 'Crawl and publish.');
  await shop.clock.advance(days(3));
  const [wait] = (await runtime.get('report-20')).waitingFor;
  await runtime.approve('report-20', wait!, { by: bob });
  return shop;
}

/** A time limit of the application's own that counts from the start of the conversation. */
export async function stageWeekend(): Promise<Scene> {
  const shop = createShop();
  const agent = shop.agent({
    id: 'support',
    model: scriptedModel([say('We open at nine.')], { repeatLast: true }),
    criteria: [new ExecutionTimeLimit(300, (state: AgentState) => state.info.startedAt)],
  });
  const runtime = shop.run(agent);
  await shop.ask(runtime, 'ann-21', 'When do you open?');
  await shop.clock.advance(days(3));
  await runtime.send('ann-21', 'And on Monday?', { by: ann });
  const refund = defineTool({ name: 'refund', description: 'Pays back.', input: anyInput, needsApproval: true, run: () => 'paid' });
  const careful = shop.agent({
    id: 'billing',
    model: scriptedModel([call({ name: 'refund', id: 'call-1' }), say('Nobody approved it.')]),
    tools: [refund],
  });
  const billing = shop.run(careful, { approvals: { expireAfterMs: days(1), whenExpired: 'reject' } });
  await shop.ask(billing, 'ann-22', 'I want my money back.');
  await shop.clock.advance(days(3));
  await waitForStatus(billing, 'completed', 'ann-22');
  return shop;
}
