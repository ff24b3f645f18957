// Surroundings of a fault that needs no session: a fake clock, and a listener that writes each event as a line.
import type { AgentOptions, BaseEvent, Orchestrator, RunResult, RunState } from '../../src/entry/index.ts';
import { createAgent, logEvents } from '../../src/entry/index.ts';
import { createCountingIds, createFakeClock } from '../../src/entry/testing.ts';
import type { FakeClock } from '../../src/entry/testing.ts';
import type { Staged } from './fault.ts';

/** Surroundings of one fault. */
export interface World {
  readonly clock: FakeClock;
  readonly host: AbortController;
  /** Ports of an agent or a chat in this world. */
  readonly ports: {
    readonly clock: FakeClock;
    readonly ids: ReturnType<typeof createCountingIds>;
    readonly random: () => number;
    readonly onProblem: (problem: unknown) => void;
  };
  readonly lines: string[];
  readonly log: string[];
  readonly listen: (event: BaseEvent) => void;
}

export function createWorld(): World {
  const clock = createFakeClock();
  const [lines, log]: readonly [string[], string[]] = [[], []];
  const print = logEvents((line) => log.push(line));
  return {
    clock,
    host: new AbortController(),
    ports: { clock, ids: createCountingIds('id'), random: () => 0.5, onProblem: () => undefined },
    lines,
    log,
    listen: (event) => {
      lines.push(String(event));
      print(event);
    },
  };
}

/** Lets time pass until the work is done. */
export async function passTime<Value>(clock: FakeClock, work: Promise<Value>, stepMs = 500): Promise<Value> {
  const seen = { over: false };
  const end = (): void => {
    seen.over = true;
  };
  work.then(end, end);
  await clock.advance(0);
  for (let turn = 0; turn < 2000 && !seen.over; turn += 1) await clock.advance(stepMs);
  if (!seen.over) throw new Error('The staged run did not end.');
  return work;
}

/** Runs until it ends or waits. */
export function runIn(world: World, runner: Orchestrator, input: string | RunState = 'Go.'): Promise<RunResult> {
  return passTime(world.clock, runner.start(input, { onEvent: world.listen, signal: world.host.signal }).result);
}

/** Texts of a result in this world. */
export const toStaged = ({ lines, log }: World, result: { explain(): string }): Staged => ({ explanation: result.explain(), lines, log });

/** Runs something once, and returns its texts. */
export async function stageRun(create: (world: World) => Orchestrator, input: string | RunState = 'Go.'): Promise<Staged> {
  const world = createWorld();
  return toStaged(world, await runIn(world, create(world), input));
}

type Options = Omit<AgentOptions, 'ports' | 'capabilities'> & { readonly capabilities?: readonly AnyCapability[] };
type AnyCapability = NonNullable<AgentOptions['capabilities']>[number];

/** Runs an agent once, and returns its texts. */
export const stageAgent = (create: (world: World) => Options, input?: string): Promise<Staged> =>
  stageRun((world) => createAgent({ ...create(world), ports: world.ports }), input);
