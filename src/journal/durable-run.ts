// One attempt at an execution on another engine's journal.
// Owns:     the attempt: reading the rows, running from there, and recording what happens.
// Does not: know the engine beyond its port, or keep anything between attempts.
// D1. A recorded step is never run or judged again; the open step is entered again with its effects.
// D2. Every decision is recorded before anything depends on it.
// D3. Calls to the host depend on rows alone.
// D4. The end row closes the list: later attempts read it and record nothing.
import type { Effects } from '../effects/index.ts';
import type { BaseEvent } from '../events/index.ts';
import type { IdSource, JsonObject } from '../lib/index.ts';
import { aborted, cleanText, describeValue, InvalidArgumentError, omitUndefined, systemClock, untilAborted } from '../lib/index.ts';
import type { Message, MessageContent } from '../messages/index.ts';
import { isMessageContent } from '../messages/index.ts';
import type { Between, Commit, Orchestrator, RunState } from '../step-by-step/index.ts';
import { AttemptReplacedError } from './attempt-replaced-error.ts';
import type { BoundedResult, BoundOptions, DurableOptions } from './durable-options.ts';
import { FoldedRows } from './folded-rows.ts';
import type { CommitRow, JournalRow } from './journal-row.ts';
import { Journal } from './journal.ts';
import { RowList } from './row-list.ts';

/** Longest wait in this process. For shorter waits, the engine's sleep costs more than it saves. */
const longestOwnWaitMs = 1000;

export type DurableRunOptions = DurableOptions & Partial<BoundOptions> & { readonly context?: unknown };

/** Creates ids that are the same in every attempt: they count up from each commit. */
function createDurableIds(executionId: string, getSeq: () => number): IdSource {
  let [seq, count] = [-1, 0];
  return () => {
    const current = getSeq();
    [seq, count] = [current, current === seq ? count + 1 : 1];
    return `${cleanText(executionId)}-${seq}-${count}`;
  };
}

export class DurableRun {
  readonly #agent: Orchestrator;
  readonly #options: DurableRunOptions;
  readonly #rows: FoldedRows<RunState>;
  readonly #list: RowList;
  readonly #ids: IdSource;
  /** State of the commit that is being recorded now. */
  #committed: RunState | undefined;
  #isLeft = false;
  #resumeAfterMs: number | undefined;

  constructor(agent: Orchestrator, options: DurableRunOptions) {
    const { engine, executionId, maxRecordBytes } = options;
    this.#agent = agent;
    this.#options = options;
    this.#rows = new FoldedRows(agent.states);
    this.#list = new RowList(engine, { executionId, maxRecordBytes, onRow: (row, isReplayed) => this.#addRow(row, isReplayed) });
    this.#ids = createDurableIds(executionId, () => this.#rows.state?.data.lastSeq ?? 0);
  }

  async run(begin: MessageContent | Message | RunState): Promise<BoundedResult> {
    if (await this.#list.open(() => this.#toFirstRows(begin))) await this.#continue();
    return this.#toResult();
  }

  #toFirstRows(begin: MessageContent | Message | RunState): readonly JournalRow[] {
    if (this.#rows.state !== undefined) return [];
    const { states } = this.#agent;
    const { clock = systemClock, wallStartedAt } = this.#options;
    const ids = this.#ids;
    const state = isMessageContent(begin) ? states.empty({ clock, ids }).withUserMessage(begin, { ids }) : begin;
    if (!states.is(state))
      throw new InvalidArgumentError(
        `runDurably() needs a string, a message, a list of parts, or a state of kind "${states.kind}", not ${describeValue(state)}. Read stored data with agent.restore() first.`,
      );
    // Holds: the encoded form of a state is JSON.
    return [{ start: states.encode(state) as JsonObject, at: wallStartedAt ?? clock.now() }];
  }

  async #continue(): Promise<void> {
    const journal = new Journal(this.#rows.effects, (rows) => this.#list.append(rows.map((effect) => ({ effect }))));
    let resumeAfterMs = await this.#runSteps(journal);
    while (resumeAfterMs !== undefined && this.#options.leavesToWait !== true) {
      await this.#list.append([{ sleepMs: resumeAfterMs }]);
      resumeAfterMs = await this.#runSteps(journal);
    }
    const isUnfinished = this.#isLeft || resumeAfterMs !== undefined;
    await this.#list.append([isUnfinished ? omitUndefined({ end: 'unfinished' as const, resumeAfterMs }) : { end: 'rest' }]);
  }

  /** Takes steps until the run ends, waits or reaches its bounds. Returns the time to sleep, if it stopped for a sleep. */
  async #runSteps(journal: Journal): Promise<number | undefined> {
    const { context, onEvent, onProblem, sessionId, stoppedBy, beforeEnd, onOutage, executionId, clock } = this.#options;
    const { engine, signal } = this.#options;
    const rows = this.#rows;
    const ended = engine.signal;
    const signals = [signal, ended].filter((each) => each !== undefined);
    ended?.addEventListener('abort', () => journal.shut(new AttemptReplacedError(executionId, ended.reason)), { once: true });
    await this.#agent.run(this.#getState(), {
      ...omitUndefined({ context, onEvent, onProblem, sessionId, stoppedBy, beforeEnd, onOutage, clock }),
      ...(signals.length > 0 && { signal: signals.length === 1 ? signals[0] : AbortSignal.any(signals) }),
      executionId,
      ids: this.#ids,
      wallStartedAt: rows.startedAt,
      resumesStep: rows.isResumed,
      stepAttempt: rows.stepAttempt,
      effects: (direct) => this.#wrapEffects(journal.wrap(direct), direct),
      commit: async (commit) => {
        journal.check();
        journal.clear();
        this.#list.dropEffects();
        await this.#record(commit);
      },
      between: (state, uncommitted) => this.#askBetween(state, uncommitted),
    });
    journal.check();
    const resumeAfterMs = this.#resumeAfterMs;
    this.#resumeAfterMs = undefined;
    return resumeAfterMs;
  }

  #wrapEffects(journaled: Effects, direct: Effects): Effects {
    const { signal } = this.#options;
    return {
      run: (key, work, options) => journaled.run(key, work, options),
      recall: (key) => journaled.recall?.(key),
      sleep: async (key, ms, options) => {
        const isOwn = options?.mayLeave !== true || ms <= longestOwnWaitMs || signal?.aborted === true;
        if (isOwn) return direct.sleep(key, ms, options);
        if (this.#rows.hasSlept) return { ok: true, value: null };
        this.#resumeAfterMs = Math.ceil(ms);
        return { ok: false, kind: 'leave', resumeAfterMs: this.#resumeAfterMs };
      },
    };
  }

  async #askBetween(state: RunState, uncommitted: readonly BaseEvent[]): Promise<Between<RunState>> {
    const { between, maxSteps = Infinity } = this.#options;
    const answer = this.#rows.stepCount >= maxSteps ? { leave: true as const } : await between?.(state, uncommitted);
    if (answer === undefined) return undefined;
    if ('leave' in answer) {
      this.#isLeft = true;
      return answer;
    }
    await this.#record({ state: answer.state, events: uncommitted }, { open: true });
    return { state: answer.state, isCommitted: true };
  }

  async #record(commit: Commit<RunState>, more: Pick<CommitRow, 'open'> = {}): Promise<void> {
    const { toNote } = this.#options;
    const { state } = commit;
    // Holds: events are data, and the list converts them to JSON.
    const events = (toNote === undefined ? commit.events : []) as unknown as readonly JsonObject[];
    const row: CommitRow = { commit: this.#rows.diff(state), events, ...(toNote !== undefined && { note: toNote(commit) }), ...more };
    this.#committed = state;
    await this.#list.append([row]);
  }

  async #addRow(row: JournalRow, isReplayed: boolean): Promise<void> {
    this.#rows.add(row, isReplayed ? undefined : this.#committed);
    if ('commit' in row) {
      const { commit: change, events, note } = row;
      await this.#options.onCommit?.({ state: this.#getState(), change, events, note, isReplayed });
    } else if ('sleepMs' in row) await this.#sleep(row.sleepMs);
  }

  /** Sleeps in the engine. An attempt that is over does not wait for the end of it. */
  async #sleep(ms: number): Promise<void> {
    const { engine, executionId } = this.#options;
    const slept = await untilAborted(engine.sleep(ms), engine.signal);
    if (slept === aborted) throw new AttemptReplacedError(executionId, engine.signal?.reason);
  }

  #getState(): RunState {
    // Holds: the list starts with a state.
    return this.#rows.state as RunState;
  }

  async #toResult(): Promise<BoundedResult> {
    const { end, startedAt = 0 } = this.#rows;
    const state = this.#getState();
    if (end?.end !== 'unfinished') return this.#agent.toResult(state);
    const { resumeAfterMs } = end;
    return omitUndefined({ status: 'unfinished' as const, state, wallStartedAt: startedAt, resumeAfterMs });
  }
}
