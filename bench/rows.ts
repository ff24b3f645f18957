// The table of `npm run bench` as data: each thing beside the same thing by hand.
import { agentByHand, sessionsAtOnce, sessionsByHand, withAgent } from './agent.bench.ts';
import { agentOverAiSdk, aiSdkByHand } from './ai-sdk.bench.ts';
import { chatByHand, withChat } from './chat.bench.ts';
import { idleHooks, withHooks } from './hooks.bench.ts';
import { byHand, withLoop } from './loop.bench.ts';
import type { Contender } from './measure.ts';
import { readByHand, throughAdapter } from './stream.bench.ts';
import { tenByHand, tenTools } from './tools.bench.ts';

/** A thing and the same thing by hand. */
export interface Row {
  readonly name: string;
  readonly ours: Contender;
  readonly hand: Contender;
  readonly wanted?: string;
}

/** Counts the cost of all hooks of a step as that of each. */
const perHook = (contender: Contender): Contender => ({ ...contender, units: contender.units * idleHooks.length });

export const rows: readonly Row[] = [
  { name: 'loop, 100 steps', ours: withLoop(100), hand: byHand(100), wanted: 'added: 8 µs or less' },
  { name: 'loop, 5,000 steps', ours: withLoop(5000), hand: byHand(5000) },
  { name: 'agent, 100 steps', ours: withAgent(100), hand: agentByHand(100), wanted: 'added: 10 µs or less' },
  { name: 'agent, 5,000 steps', ours: withAgent(5000), hand: agentByHand(5000) },
  { name: 'agent through aiSdk(), 100 steps', ours: agentOverAiSdk(100), hand: aiSdkByHand(100) },
  { name: 'agent through aiSdk(), 5,000 steps', ours: agentOverAiSdk(5000), hand: aiSdkByHand(5000) },
  { name: '1,000 sessions × 10 steps, a step', ours: sessionsAtOnce(1000, 10), hand: sessionsByHand(1000, 10) },
  {
    name: 'each hook of an agent, a step',
    ours: perHook(withHooks(100, idleHooks)),
    hand: perHook(withHooks(100, [])),
    wanted: 'added: 1 µs or less',
  },
  { name: 'chat of two models, a turn', ours: withChat(20), hand: chatByHand(20) },
  { name: 'streamed piece through aiSdk()', ours: throughAdapter, hand: readByHand, wanted: 'added: 0.6 µs or less' },
  { name: 'ten tools in parallel', ours: tenTools, hand: tenByHand },
];

/** Pairs of rows whose cost of a step is to stay the same however long the run is. */
export const growths: readonly (readonly [long: string, short: string])[] = ['loop', 'agent', 'agent through aiSdk()'].map((name) => [
  `${name}, 5,000 steps`,
  `${name}, 100 steps`,
]);
