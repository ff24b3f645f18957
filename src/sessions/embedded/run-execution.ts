// One run of an execution, whose steps and effects are stored as they happen.
import type { BaseEvent } from '../../events/index.ts';
import type { EffectResult, Effects } from '../../effects/index.ts';
import { createCancelledEffect } from '../../effects/index.ts';
import { createUnknownEnd } from '../../journal/index.ts';
import type { RequestRecorder, StoredRequest } from '../../inference/index.ts';
import { aborted, jsonEquals, omitUndefined, untilAborted } from '../../lib/index.ts';
import type { Between, OutageRule, Orchestrator, RunState, WaitingTime } from '../../step-by-step/index.ts';
import { Supersession } from '../../step-by-step/index.ts';
import { toIdentity } from '../core/agents.ts';
import { ContextFailedError } from '../core/errors.ts';
import type { Queue } from '../core/entries.ts';
import { toExecutionId } from '../core/execution-id.ts';
import { CancelRequested } from '../core/action-events.ts';
import { hasInterruption } from '../core/message-rules.ts';
import type { StepRequests } from '../core/sent-requests.ts';
import { createRecorder } from '../core/sent-requests.ts';
import { findCancel, findCanceller, findCancels } from '../core/queue.ts';
import type { DefinitionWriter } from './definition-writer.ts';
import type { HoldGate } from './hold-gate.ts';
import type { OpenStepHub } from './open-step-hub.ts';
import { OpenStepWriter } from './open-step-writer.ts';
import { RunEnd, toolKey } from './run-end.ts';
import type { SessionRuntimeOptions } from './runtime-options.ts';
import type { SessionFacts } from '../core/session.ts';
import type { SessionLog } from './session-log.ts';

/** Services of the process that a run needs. */
export interface RunServices {
  readonly options: Pick<SessionRuntimeOptions, 'context' | 'onEvent' | 'onOutage' | 'onProblem'>;
  /** Aborted once no further step may start; its reason says why. */
  readonly closing: AbortSignal;
  /** The steps that are open in this process. */
  readonly openSteps: OpenStepHub;
  /** Stores the definitions of agents. */
  readonly definitions: DefinitionWriter;
  /** Reasons for starting no model calls. */
  readonly holds: HoldGate;
  /** Returns the number of workers that run sessions of this agent. */
  countWorkers(agentName: string): number;
}

interface ExecutionOptions {
  readonly agent: Orchestrator;
  readonly services: RunServices;
  /** True if the open step has ended the process too often: it is only run to be ended, or because somebody asked for it. */
  readonly isLooping: boolean;
  /** True if somebody has cancelled the open step before, and the process ended in that too. */
  readonly hasResisted: boolean;
  /** Receives what ends the run. */
  readonly onStart: (end: RunEnd) => void;
  readonly onCommit: () => void;
  readonly between: (state: RunState, uncommitted: readonly BaseEvent[]) => Promise<Between<RunState>>;
}

/** The longest sleep in one go, so that no long timer is left behind when the runtime closes. */
const longestSleepMs = 1000;

/** Keys of effects that ask a model, in this run or in a run inside it. */
const modelKey = /(^|\/)(hook-)?model\//;

interface GuardOptions {
  readonly facts: SessionFacts;
  readonly services: RunServices;
  /** Aborted when the run is cancelled, or left because the runtime has ended. */
  readonly signal: AbortSignal;
  readonly time: WaitingTime;
}

/**
 * Wraps effects so that sleeps end when the runtime closes, and no model is asked while a hold applies to the session. The time of a hold
 * counts nowhere. A runtime that is drained meanwhile leaves the step open: the hold is not over.
 */
function guardEffects(direct: Effects, { facts, services: { closing, holds }, signal, time }: GuardOptions): Effects {
  const whenReleased = async (): Promise<void> => {
    const endWaiting = time.beginWaiting({ forPerson: true });
    while (holds.find(facts) !== undefined && !signal.aborted) await holds.whenChanged(signal);
    endWaiting();
  };
  return {
    run: async (key, work, options) => {
      if (modelKey.test(key) && holds.find(facts) !== undefined) await whenReleased();
      return direct.run(key, work, options);
    },
    sleep: async (key, ms) => {
      for (let leftMs = ms; !closing.aborted; leftMs -= longestSleepMs) {
        const slept = await untilAborted(direct.sleep(key, Math.min(leftMs, longestSleepMs)), closing);
        if (slept !== aborted && (!slept.ok || leftMs <= longestSleepMs)) return slept;
      }
      return createCancelledEffect();
    },
  };
}

/** Wraps effects so that what a tool returned is not known: the hooks that check results are not called. */
function withholdResults(journaled: Effects): Effects {
  const withhold = <Result extends EffectResult<unknown> | undefined>(key: string, result: Result): Result | EffectResult<never> =>
    result?.ok === true && toolKey.test(key) ? createUnknownEnd(key) : result;
  return {
    run: async (key, work, options) => withhold(key, await journaled.run(key, work, options)),
    recall: (key) => withhold(key, journaled.recall?.(key)),
    sleep: (key, ms, options) => journaled.sleep(key, ms, options),
  };
}

/** Longest time to wait for a provider, unless a runtime has its own. */
const defaultOutageMs = 3_600_000;

/** Returns the rule for a provider that is down; undefined if sessions fail then. */
function toOutageRule(services: RunServices): OutageRule | undefined {
  const { onOutage = 'fail' } = services.options;
  if (onOutage === 'fail') return undefined;
  const { maxMs } = onOutage === 'park' ? { maxMs: defaultOutageMs } : onOutage;
  return { maxMs };
}

/** Creates the context of a run. One that is to end does without, if there is none to be had. */
async function createContext({ facts }: SessionLog, { context }: RunServices['options'], isEnding: boolean): Promise<unknown> {
  try {
    return await context?.(facts);
  } catch (error) {
    if (isEnding) return {};
    throw new ContextFailedError(facts.id, error);
  }
}

/** Returns the reason for ending an execution, if somebody has cancelled it or sent a message that interrupts it. */
export const findEnd = (queued: Queue, number: number): string | Supersession | undefined =>
  findCancel(queued, number) ?? (hasInterruption(queued, number) ? new Supersession() : undefined);

/** Records what models are sent in an execution. */
class ExecutionRequests {
  readonly #log: SessionLog;
  #sent: StoredRequest[] = [];
  readonly recorder: RequestRecorder;

  constructor(log: SessionLog, definitions: DefinitionWriter) {
    this.#log = log;
    this.recorder = createRecorder({
      getState: () => log.state,
      define: (definition) => definitions.define(definition),
      add: (sent) => this.#sent.push(sent),
    });
  }

  /** Returns the requests since this was last called. Their definitions have to be stored. */
  take(): { readonly requests?: StepRequests } {
    const sent = this.#sent;
    if (sent.length === 0) return {};
    this.#sent = [];
    const { number: execution, pendingStep, results } = this.#log.state.execution;
    return { requests: { execution, step: pendingStep?.number ?? results.length + 1, sent } };
  }
}

/** Runs an execution until it ends, waits or is left. */
export async function runExecution(
  log: SessionLog,
  state: RunState,
  { agent, services, isLooping, hasResisted, onStart, onCommit, between }: ExecutionOptions,
): Promise<void> {
  const { onEvent, onProblem } = services.options;
  const { number } = state.execution;
  const identity = toIdentity(agent);
  // A step that waits belongs to the agent that asked, until it is recorded: another may lack its tools.
  const noteAgent = ({ pendingStep }: RunState): void => {
    if (pendingStep === undefined && !jsonEquals({ ...identity }, { ...log.facts.agent })) log.facts = { ...log.facts, agent: identity };
  };
  noteAgent(state);
  // No code of the host that it can do without is called.
  const isQuiet = isLooping && hasResisted;
  const isEnding = findEnd(log.queued, number) !== undefined;
  // A run that only ends needs no context.
  const context = isQuiet || (isEnding && log.journal.isEmpty) ? {} : await createContext(log, services.options, isEnding);
  await log.markStepping();
  const end = new RunEnd(log.journal, log.services.clock);
  // Somebody may have cancelled it before it ran, in this process or in an earlier one.
  const reason = findEnd(log.queued, number);
  if (reason !== undefined) end.request(reason);
  onStart(end);
  // A later step has not ended any process.
  const hasCrashed = (): boolean => isLooping && log.state.execution.results.length === state.execution.results.length;
  // Cancels that the record which ends the execution applies.
  const cancels = new Set<number>();
  const open = new OpenStepWriter(log, services.openSteps);
  const requests = new ExecutionRequests(log, services.definitions);
  const running = agent.run(state, {
    context,
    requests: requests.recorder,
    signal: end.signal,
    onEvent: (event) => {
      log.noteAsked(event);
      open.note(event);
      return onEvent?.(event, log.facts);
    },
    onOutage: toOutageRule(services),
    sharedBy: () => services.countWorkers(agent.id),
    sessionId: log.id,
    executionId: toExecutionId(log.id, number),
    resumesStep: log.isAfterCrash,
    stoppedBy: () => omitUndefined({ person: findCanceller(log.queued, number), crashes: hasCrashed() ? log.recoveries : undefined }),
    // Who listens in this process has seen what it did of the step before.
    stepAttempt: services.openSteps.findAttempt(log.id) === undefined ? log.ownersSince + 1 : 1,
    skipsHooks: isQuiet,
    effects: (direct, time) => {
      const guarded = guardEffects(direct, { facts: log.facts, services, signal: end.signal, time });
      const journaled = log.journal.wrap(guarded, `${number}/`, end);
      return isQuiet ? withholdResults(journaled) : journaled;
    },
    commit: async (commit) => {
      if (!services.definitions.isFlushed) await services.definitions.flush();
      log.journal.check();
      const applied = [...cancels];
      cancels.clear();
      const onSafe = open.endStep();
      noteAgent(commit.state);
      await log.append({ ...(applied.length > 0 && { applied, execution: number }), ...requests.take() }, { ...commit, endsStep: true });
      onSafe();
      onCommit();
      end.onCommit();
    },
    between: async (current, uncommitted) => {
      const answer = await between(current, uncommitted);
      // Events that were stored with an action, or when the run was left, are not those of an open step any more.
      if (answer !== undefined && uncommitted.length > 0) open.endStep()();
      return answer;
    },
    beforeEnd: (emit) => {
      for (const [entry, { by, reason }] of findCancels(log.queued, number)) {
        emit((header) => new CancelRequested(header, by, reason));
        cancels.add(entry);
      }
    },
    onProblem,
  });
  try {
    await running;
  } finally {
    open.close();
  }
}
