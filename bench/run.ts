// Benchmarks. Ratios compare within one run; absolute figures are medians, reported, and gate nothing.
//   npm run bench            nine rounds
//   npm run bench -- --quick five rounds
import { agentOverAiSdk, aiSdkByHand, aiSdkLoop } from './ai-sdk.bench.ts';
import { coldImport } from './cold-import.bench.ts';
import { chatByHand, withChat } from './chat.bench.ts';
import { agentByHand, sessionsAtOnce, withAgent } from './agent.bench.ts';
import { measureEnvelopes } from './envelopes.bench.ts';
import { idleHooks, withHooks } from './hooks.bench.ts';
import { byHand, withLoop } from './loop.bench.ts';
import type { Contender } from './measure.ts';
import { compare } from './measure.ts';
import { readByHand, throughAdapter } from './stream.bench.ts';
import { tenByHand, tenTools } from './tools.bench.ts';

const quick = process.argv.includes('--quick');
const rounds = quick ? 5 : 9;
const unitsPerRound = quick ? 40_000 : 80_000;

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};
const micros = (value: number): string => `${value.toFixed(2).padStart(8)} µs`;

print(`Node ${process.version}, median of ${String(rounds)} rounds, CPU time per step`);
const samples = await compare([byHand(100), withLoop(100), byHand(5000), withLoop(5000)], { rounds, unitsPerRound });
for (const { name, microsPerUnit } of samples) print(`  ${name.padEnd(28)}${micros(microsPerUnit)}`);

const [handShort = 0, loopShort = 0, handLong = 0, loopLong = 0] = samples.map(({ microsPerUnit }) => microsPerUnit);
print();
print(`  added by the loop, 100 steps  ${micros(loopShort - handShort)}   (wanted: 8 µs or less)`);
print(`  added by the loop, 5000 steps ${micros(loopLong - handLong)}`);
print(`  a step at 5000 : at 100       ${(loopLong / loopShort).toFixed(2).padStart(8)}      (wanted: 1.3 or less)`);

async function pair(ours: Contender, byHandOne: Contender, wanted: string): Promise<void> {
  const [own, hand] = await compare([ours, byHandOne], { rounds, unitsPerRound });
  const [ownMicros, handMicros] = [own?.microsPerUnit ?? 0, hand?.microsPerUnit ?? 0];
  print();
  print(`  ${ours.name.padEnd(28)}${micros(ownMicros)}`);
  print(`  ${byHandOne.name.padEnd(28)}${micros(handMicros)}`);
  print(`  added                         ${micros(ownMicros - handMicros)}   ${wanted}`);
}

const agents = await compare([agentByHand(100), withAgent(100), withAgent(5000)], { rounds, unitsPerRound });
const [agentHand = 0, agentShort = 0, agentLong = 0] = agents.map(({ microsPerUnit }) => microsPerUnit);
print();
for (const { name, microsPerUnit } of agents) print(`  ${name.padEnd(28)}${micros(microsPerUnit)}`);
print(
  `  added by an agent, 100 steps  ${micros(agentShort - agentHand)}   (one model call and one tool call a step; wanted: 10 µs or less)`,
);
print(`  a step at 5000 : at 100       ${(agentLong / agentShort).toFixed(2).padStart(8)}      (wanted: 1.3 or less)`);

const overAiSdk = (steps: number): readonly Contender[] => [aiSdkByHand(steps), agentOverAiSdk(steps), aiSdkLoop(steps)];
const sdkSamples = [
  ...(await compare(overAiSdk(100), { rounds, unitsPerRound: 20_000 })),
  // The AI SDK's own loop takes seconds for 5000 steps: one run a round is enough.
  ...(await compare(overAiSdk(5000), { rounds: 3, unitsPerRound: 5000, warmUpPasses: 1 })),
];
const [sdkHandShort = 0, sdkShort = 0, aiShort = 0, sdkHandLong = 0, sdkLong = 0, aiLong = 0] = sdkSamples.map(
  ({ microsPerUnit }) => microsPerUnit,
);
const ratio = (value: number): string => value.toFixed(2).padStart(8);
print();
print('  Through an AI SDK model:');
for (const { name, microsPerUnit } of sdkSamples) print(`  ${name.padEnd(28)}${micros(microsPerUnit)}`);
print(`  added by an agent, 100 steps  ${micros(sdkShort - sdkHandShort)}`);
print(`  added by an agent, 5000 steps ${micros(sdkLong - sdkHandLong)}`);
print(`  an agent : ai, 100 steps      ${ratio(sdkShort / aiShort)}      (wanted: 1 or less)`);
print(`  an agent : ai, 5000 steps     ${ratio(sdkLong / aiLong)}      (wanted: 1 or less)`);
print(`  a step at 5000 : at 100       ${ratio(sdkLong / sdkShort)}      (wanted: 2 or less)`);
print();

const hooked = await compare([withHooks(100, []), withHooks(100, idleHooks)], { rounds, unitsPerRound });
const [bare = 0, twelve = 0] = hooked.map(({ microsPerUnit }) => microsPerUnit);
for (const { name, microsPerUnit } of hooked) print(`  ${name.padEnd(28)}${micros(microsPerUnit)}`);
print(`  added by each hook            ${micros((twelve - bare) / idleHooks.length)}   (per step; wanted: 1 µs or less)`);
const [sessions] = await compare([sessionsAtOnce(1000, 10)], { rounds, unitsPerRound: 1 });
print(
  `  1000 sessions × 10 steps      ${((sessions?.microsPerUnit ?? 0) / 1e6).toFixed(2).padStart(8)} s    (CPU time in all; wanted: 0.5 s or less)`,
);

const envelopes = await measureEnvelopes(rounds);
print();
print(
  `  an event as envelopes, median ${micros(envelopes.medianMicros)}   (over the events of an agent's run, standard preset; wanted: 3 µs or less)`,
);
print(`  an event as envelopes, mean   ${micros(envelopes.meanMicros)}`);

await pair(withChat(20), chatByHand(20), '(per turn of a chat of two models, each a run of its own inside)');
await pair(throughAdapter, readByHand, '(wanted: 0.6 µs or less)');
await pair(tenTools, tenByHand, '(for all ten, arguments checked, values made canonical)');

const millis = (value: number): string => `${value.toFixed(2).padStart(8)} ms`;
const { emptyMs, importMs } = coldImport();
print();
print(`  ${'Node alone, wall time'.padEnd(28)}${millis(emptyMs)}`);
print(`  ${'Node and a cold import'.padEnd(28)}${millis(importMs)}`);
print(`  added                         ${millis(importMs - emptyMs)}   (wanted: 25 ms or less)`);
