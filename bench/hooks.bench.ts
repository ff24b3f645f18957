// What hooks cost that do nothing: two at each point of a step, so that every road is taken.
import type { Hook } from 'stepline';
import { createAgent, defineHook } from 'stepline';
import { benchLimits, benchModel, benchTools, runBench } from './agent.bench.ts';
import type { Contender } from './measure.ts';

const seen = { calls: 0 };
const look = (): void => {
  seen.calls += 1;
};

const points = ['beforeStep', 'beforeInference', 'afterInference', 'beforeTool', 'afterTool', 'afterStep'] as const;

/** Half of them could vote, so that steps are shown to them before the judgement; half only look on. */
export const idleHooks: readonly Hook[] = points.flatMap((point) =>
  (['votes', 'none'] as const).map(
    (kind) =>
      defineHook({ name: `${point}-${kind}`, changes: kind === 'votes' ? ['votes'] : [], [point]: look } as never) as unknown as Hook,
  ),
);

/** The agent of the other benchmark, with these hooks. */
export function withHooks(steps: number, hooks: readonly Hook[]): Contender {
  const agent = createAgent({ model: benchModel(steps), tools: benchTools, limits: benchLimits, hooks: hooks as never });
  return { name: `agent, ${String(hooks.length)} hooks`, units: steps, work: () => runBench(agent, steps) };
}
