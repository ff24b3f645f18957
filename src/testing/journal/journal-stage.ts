// Shared by all cases of the suite: agents that follow orders, executions that crash as planned, and records of what happened.
import type { Agent } from '../../agent/index.ts';
import type { DurableEngine, RecordedCommit } from '../../journal/index.ts';
import { runDurably } from '../../journal/index.ts';
import type { Json, JsonObject } from '../../lib/index.ts';
import { systemIds } from '../../lib/index.ts';
import type { RunResult } from '../../step-by-step/index.ts';
import { holds, same } from '../conformance.ts';
import { createConformanceAgents } from '../session-runtime/conformance-agents.ts';
import type { CrashPlan } from './crash-plan.ts';
import { runWithCrash } from './crash-plan.ts';
import type { JournalWorld } from './journal-world.ts';

/** Steps with four parallel calls of all effect classes, after an async hook. */
export const fourCalls = (step: number): string => {
  const amount = (call: number): number => step * 10 + call;
  return `look ${amount(1)} & put ${amount(2)} & note ${amount(3)} & note ${amount(4)}`;
};

/** The end of an execution, as plain data. */
export interface Ending extends JsonObject {
  readonly status: string;
  readonly text: string;
  readonly steps: number;
}

export const toEnding = ({ status, text, state }: RunResult): Ending => ({ status, text, steps: state.stepCount });

/** One execution of a case. */
export class JournalStage {
  readonly world: JournalWorld;
  readonly id: string;
  /** Lines of effects that happened, including those of crashed attempts. */
  readonly lines: string[] = [];
  /** Operations of the engine in each attempt. */
  readonly operations: number[] = [];
  /** Commits that each attempt passed to the host. */
  readonly commits: RecordedCommit[][] = [];

  constructor(world: JournalWorld) {
    this.world = world;
    this.id = `journal-${systemIds()}`;
  }

  get attempts(): number {
    return this.operations.length;
  }

  /** Creates the agent that follows orders, as a build of this release would. */
  createAgent(release = '1'): Agent {
    const record = (line: string): void => void this.lines.push(line);
    const [agent] = createConformanceAgents(
      { record, pass: async () => undefined, isOpen: () => true, onProblem: () => undefined },
      release,
    );
    // Holds: the suite has agents.
    return agent as Agent;
  }

  /** Executes the body. The first attempts crash as planned. */
  execute<Value extends Json>(
    plans: readonly CrashPlan[],
    body: (engine: DurableEngine, attempt: number) => Promise<Value>,
  ): Promise<Value> {
    return this.world.execute(this.id, (attempt) => {
      const number = this.operations.push(0);
      this.commits.push([]);
      return runWithCrash(attempt, plans[number - 1], (engine) => body(this.#count(engine, number), number));
    });
  }

  /** Runs an agent to its end. */
  async run(
    order: string,
    plans: readonly CrashPlan[] = [],
    { agent = this.createAgent() }: { readonly agent?: Agent } = {},
  ): Promise<Ending> {
    return this.execute(plans, async (engine, attempt) =>
      toEnding(await runDurably(agent, order, { engine, executionId: this.id, onCommit: (commit) => this.noteCommit(attempt, commit) })),
    );
  }

  noteCommit(attempt: number, commit: RecordedCommit): void {
    this.commits[attempt - 1]?.push(commit);
  }

  /** Fails the case if a `once` call ran twice, an idempotent call ran with two keys, or an event is missing. */
  check(): void {
    const once = this.lines.filter((line) => /^(?:note|pay) /.test(line));
    same(once.length, new Set(once).size, `lines of calls that must run once, against different ones (${once.join(', ')})`);
    const puts = this.lines.filter((line) => line.startsWith('put '));
    same(new Set(puts).size, new Set(puts.map((line) => line.split(' ')[1])).size, `idempotency keys (${puts.join(', ')})`);
    const numbers = (this.commits.at(-1) ?? []).flatMap(({ events }) => events.map(({ seq }) => seq ?? null));
    same(
      numbers,
      Array.from(numbers, (_, index) => index + 1),
      'numbers of the events',
    );
    holds(numbers.length > 0, 'no event was recorded');
  }

  #count(engine: DurableEngine, attempt: number): DurableEngine {
    const add = (): void => void (this.operations[attempt - 1] = (this.operations[attempt - 1] ?? 0) + 1);
    return {
      ...engine,
      record: (make) => (add(), engine.record(make)),
      sleep: (ms) => (add(), engine.sleep(ms)),
    };
  }
}

/** A case: its check gets a stage of its own. */
export type JournalCases = Readonly<Record<string, (stage: JournalStage) => Promise<void>>>;
