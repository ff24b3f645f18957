// One run of an execution, whose steps and effects are stored as they happen.
import type { Effects, SleepResult } from '../effects/index.ts';
import { cancelledEffect } from '../effects/index.ts';
import { jsonEquals } from '../lib/index.ts';
import type { Between, EngineOutageRule, Orchestrator, RunState } from '../step-by-step/index.ts';
import { toIdentity } from './agents.ts';
import { ContextFailedError } from './context-failed-error.ts';
import { toExecutionId } from './execution-id.ts';
import { findCancel } from './queue.ts';
import type { SessionRuntimeOptions } from './runtime-options.ts';
import type { SessionLog } from './session-log.ts';

/** Services of the process that a run needs. */
export interface RunServices {
  readonly options: Pick<SessionRuntimeOptions, 'context' | 'onEvent' | 'onOutage' | 'onProblem'>;
  /** Aborted once no further step may start; its reason says why. */
  readonly closing: AbortSignal;
  /** Returns how long a provider has been down for a session; undefined if only the stored time of the first failure says so. */
  measureOutage(sessionId: string, since: number): number | undefined;
  /** More of a session can be read. */
  onStored(sessionId: string): void;
}

interface ExecutionOptions {
  readonly agent: Orchestrator;
  readonly services: RunServices;
  /** Receives the controller that interrupts the run. */
  readonly onStart: (abort: AbortController) => void;
  /** Called when everything is there that the run needs. */
  readonly beforeRun: () => Promise<void>;
  readonly onCommit: () => void;
  readonly between: (state: RunState) => Between<RunState>;
}

/** The longest sleep in one go, so that no long timer is left behind when the runtime closes. */
const longestSleepMs = 1000;

/** Wraps effects so that sleeps end when the runtime closes. */
function interruptSleeps(direct: Effects, closing: AbortSignal): Effects {
  const sleepOnce = (key: string, ms: number): Promise<SleepResult> =>
    new Promise((resolve, reject) => {
      const cancel = (): void => resolve(cancelledEffect());
      closing.addEventListener('abort', cancel);
      direct
        .sleep(key, ms)
        .finally(() => closing.removeEventListener('abort', cancel))
        .then(resolve, reject);
    });
  return {
    run: (key, work, options) => direct.run(key, work, options),
    sleep: async (key, ms) => {
      for (let leftMs = ms; ; leftMs -= longestSleepMs) {
        if (closing.aborted) return cancelledEffect();
        const slept = await sleepOnce(key, Math.min(leftMs, longestSleepMs));
        if (!slept.ok || leftMs <= longestSleepMs) return slept;
      }
    },
  };
}

/** Longest time to wait for a provider, unless a runtime has its own. */
const defaultOutageMs = 3_600_000;

/** Returns the rule for a provider that is down; undefined if sessions fail then. */
function toOutageRule(services: RunServices, sessionId: string): EngineOutageRule | undefined {
  const { onOutage = 'fail' } = services.options;
  if (onOutage === 'fail') return undefined;
  const { maxMs } = onOutage === 'park' ? { maxMs: defaultOutageMs } : onOutage;
  return { maxMs, measureMs: (since) => services.measureOutage(sessionId, since) };
}

async function createContext({ facts }: SessionLog, { context }: RunServices['options']): Promise<unknown> {
  try {
    return await context?.(facts);
  } catch (error) {
    throw new ContextFailedError(facts.id, error);
  }
}

/** Runs an execution until it ends, waits or is left. */
export async function runExecution(
  log: SessionLog,
  state: RunState,
  { agent, services, onStart, beforeRun, onCommit, between }: ExecutionOptions,
): Promise<void> {
  const { onEvent, onProblem } = services.options;
  const { number } = state.execution;
  const identity = toIdentity(agent);
  if (!jsonEquals({ ...identity }, { ...log.facts.agent })) log.facts = { ...log.facts, agent: identity };
  // A run that only ends needs no context.
  const onlyEnds = log.journal.isEmpty && findCancel(log.queued, number) !== undefined;
  const context = onlyEnds ? {} : await createContext(log, services.options);
  await beforeRun();
  const abort = new AbortController();
  // Somebody may have cancelled it before it ran, in this process or in an earlier one.
  const cancel = findCancel(log.queued, number);
  // A step that was open before is replayed as far as it got: it ends where something new would start.
  const endIfCancelled = (): void => {
    if (cancel !== undefined) abort.abort(cancel);
  };
  if (log.journal.isEmpty) endIfCancelled();
  onStart(abort);
  await agent.run(state, {
    context,
    signal: abort.signal,
    onEvent: (event) => {
      log.noteAsked(event);
      return onEvent?.(event, log.facts);
    },
    onOutage: toOutageRule(services, log.id),
    executionId: toExecutionId(log.id, number),
    effects: (direct) => log.journal.wrap(interruptSleeps(direct, services.closing), `${number}/`, endIfCancelled),
    commit: async (commit) => {
      log.journal.check();
      await log.append({}, { ...commit, endsStep: true });
      services.onStored(log.id);
      onCommit();
      endIfCancelled();
    },
    between,
    onProblem,
  });
}
