// Simulated processes that run an agent on a list of rows. A killed one has no effect any more.
import type { DurableEngine, RecordedCommit } from '../../src/journal/index.ts';
import { memoryEngine, runDurably } from '../../src/journal/index.ts';
import type { EffectClass } from '../../src/effects/index.ts';
import type { Orchestrator, RunResult } from '../../src/step-by-step/index.ts';
import { defineHook } from '../../src/tool-use/index.ts';
import type { Tool } from '../../src/tools/index.ts';
import { defineTool } from '../../src/tools/index.ts';

// A new promise each time: one that never settles keeps everything that ever waited for it.
const waitForever = (): Promise<never> => new Promise(() => undefined);

/** Waits for this many turns of the event loop. */
async function turn(times: number): Promise<void> {
  for (let left = times; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
}

export class KillableProcess {
  readonly #lines: string[];
  #isAlive = true;

  /** `lines` are the effects on the world, which outlives the process. */
  constructor(lines: string[]) {
    this.#lines = lines;
  }

  kill(): void {
    this.#isAlive = false;
  }

  #whileAlive<Value>(value: Value): Value | Promise<never> {
    return this.#isAlive ? value : waitForever();
  }

  /** Creates a tool whose calls take the given number of event-loop turns, before and after their effect. */
  createTool(name: string, effect: EffectClass): Tool {
    return defineTool({
      name,
      description: `Does ${name}.`,
      input: { type: 'object', properties: { turns: { type: 'number' } } },
      effect,
      run: async ({ turns = 0 }, { idempotencyKey }) => {
        await turn(turns);
        if (!this.#isAlive) return waitForever();
        this.#lines.push(`${name} ${idempotencyKey}`);
        await turn(turns);
        return this.#whileAlive(`${name} done`);
      },
    });
  }
}

/** One tool of each effect class, and a second `once` tool. */
export const createTools = (process: KillableProcess): readonly Tool[] => [
  process.createTool('look', 'pure'),
  process.createTool('put', 'idempotent'),
  process.createTool('note', 'once'),
  process.createTool('pay', 'once'),
];

/** A hook that takes turns of the event loop before each call. */
export const lateHook = defineHook({
  name: 'late',
  changes: ['args'],
  beforeTool: async ({ call }) => {
    await turn(call.id.endsWith('0') ? 3 : 1);
    return undefined;
  },
});

/** The operation of the engine at which a process is killed, and whether it is recorded. */
export interface Kill {
  readonly at: number;
  readonly isRecorded: boolean;
}

/** Kills the process at an operation of the engine. */
function killAt(engine: DurableEngine, { at, isRecorded }: Kill, kill: () => void): DurableEngine {
  let count = 0;
  return {
    ...engine,
    record: async (make) => {
      const place = count;
      count += 1;
      if (place > at) return waitForever();
      if (place < at) return engine.record(make);
      if (isRecorded) await engine.record(make);
      kill();
      return waitForever();
    },
  };
}

/** Everything that is left of an execution. */
export interface KilledRun {
  readonly result: RunResult;
  readonly lines: readonly string[];
  readonly journal: readonly string[];
  /** Commits that the last process passed to the host. */
  readonly commits: readonly RecordedCommit[];
  readonly kills: number;
}

/** Runs an execution with these kills, and starts a new process after each. */
export async function runThroughKills(create: (process: KillableProcess) => Orchestrator, kills: readonly Kill[]): Promise<KilledRun> {
  const [lines, journal]: [string[], string[]] = [[], []];
  const executionId = 'e1';
  let count = 0;
  for (const kill of kills) {
    const process = new KillableProcess(lines);
    const isKilled = await new Promise<boolean>((resolve, reject) => {
      const engine = killAt(memoryEngine(journal), kill, () => {
        process.kill();
        resolve(true);
      });
      runDurably(create(process), 'Go.', { engine, executionId }).then(() => resolve(false), reject);
    });
    if (!isKilled) break;
    count += 1;
  }
  const commits: RecordedCommit[] = [];
  const engine = memoryEngine(journal);
  const onCommit = (commit: RecordedCommit): void => void commits.push(commit);
  const result = await runDurably(create(new KillableProcess(lines)), 'Go.', { engine, executionId, onCommit });
  return { result, lines, journal, commits, kills: count };
}

/** Returns the problems of any execution: `once` calls that ran twice, and missing events. */
export function findFaults({ lines, commits }: KilledRun): readonly string[] {
  const once = lines.filter((line) => /^(?:note|pay) /.test(line));
  const twice = once.filter((line, index) => once.indexOf(line) !== index);
  const numbers = commits.flatMap(({ events }) => events.map(({ seq }) => Number(seq)));
  const gaps = numbers.filter((seq, index) => seq !== index + 1);
  return [...twice.map((line) => `twice: ${line}`), ...gaps.map((seq) => `a gap before event ${seq}`)];
}
