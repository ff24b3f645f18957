// What an event costs on its way to a transport that does nothing: the events of the agent's bench run, by their type.
import type { BaseEvent } from 'stepline';
import { createAgent } from 'stepline';
import { AgentEventEnvelopeAdapter } from 'stepline/broadcasting';
import { benchLimits, benchModel, benchTools, runBench } from './agent.bench.ts';
import { compare, median } from './measure.ts';

/** Cost of the events of one type. */
interface EventCost {
  readonly type: string;
  readonly count: number;
  readonly micros: number;
}

async function collectEvents(steps: number): Promise<readonly BaseEvent[]> {
  const agent = createAgent({ model: benchModel(steps), tools: benchTools, limits: benchLimits });
  const events: BaseEvent[] = [];
  agent.wiretap((event) => events.push(event));
  await runBench(agent, steps);
  return events;
}

/** Measures the adapter on each type of event of a run. Returns the median over all events, their mean, and the cost by type. */
export async function measureEnvelopes(
  rounds: number,
): Promise<{ readonly medianMicros: number; readonly meanMicros: number; readonly byType: readonly EventCost[] }> {
  const events = await collectEvents(100);
  const types = [...new Set(events.map(({ type }) => type))];
  const adapter = new AgentEventEnvelopeAdapter({ send: () => undefined }, { preset: 'standard' });
  const samples = await compare(
    types.map((type) => {
      const own = events.filter((event) => event.type === type);
      const repeats = Math.ceil(2_000 / own.length);
      return {
        name: type,
        units: own.length * repeats,
        work: async () => {
          for (let pass = 0; pass < repeats; pass += 1) for (const event of own) adapter.broadcast(event);
          return Promise.resolve();
        },
      };
    }),
    { rounds, unitsPerRound: 20_000 },
  );
  adapter.close();
  const count = (type: string): number => events.filter((event) => event.type === type).length;
  const byType = samples.map(({ name, microsPerUnit }) => ({ type: name, count: count(name), micros: microsPerUnit }));
  const all = byType.flatMap((cost) => Array.from({ length: cost.count }, () => cost.micros));
  return { medianMicros: median(all), meanMicros: all.reduce((sum, each) => sum + each, 0) / all.length, byType };
}
