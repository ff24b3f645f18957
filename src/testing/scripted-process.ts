import type { ContinuationCriterion, ContinuationEvaluation } from '../continuation/index.ts';
import { ContinuationCriteria, ToolCallPresenceCheck } from '../continuation/index.ts';
import type { ErrorPolicy, Failure } from '../errors/index.ts';
import type { FakeClock, JsonObject } from '../lib/index.ts';
import { omitUndefined } from '../lib/index.ts';
import { Message, Usage } from '../messages/index.ts';
import type { Answer, Limits, NewStateOptions, PendingStep, ProducedStep, Step } from '../step-by-step/index.ts';
import type { StateCodec, StepProcess, StepScope, Wait } from '../step-by-step/index.ts';
import { createStateCodec, readAnswer, RunState, standardCriteria } from '../step-by-step/index.ts';

/** Behaviour of one scripted step. */
export interface ScriptedStep {
  readonly text?: string;
  /** Leaves work to do, so that the run continues. */
  readonly hasToolCalls?: boolean;
  readonly usage?: { readonly input: number; readonly output: number };
  readonly finishReason?: string;
  /** Failures that the step reports. */
  readonly errors?: readonly Failure[];
  /** Thrown while producing. */
  readonly throws?: unknown;
  /** Time at work; needs `clock` in the options. */
  readonly takesMs?: number;
  /** Waits for permission to continue, on the run's clock. */
  readonly sleepsMs?: number;
  /** Never ends by itself. `deaf` ignores its signal too. */
  readonly hangs?: 'listening' | 'deaf';
  /** Waits that must be answered before the step can end. */
  readonly waits?: readonly Wait[];
  readonly evaluations?: readonly ContinuationEvaluation[];
}

/** A step of a script, with the answers it got. */
export interface ScriptedStepData extends Step {
  readonly answers: readonly Answer[];
}

/** The state of a scripted run. */
export class ScriptedState extends RunState<ScriptedStepData> {
  static empty(options: NewStateOptions = {}): ScriptedState {
    return new ScriptedState(RunState.emptyData(options));
  }

  static get codec(): StateCodec<ScriptedState> {
    return codec;
  }

  /** Keeps the answers that were given before the step was closed. */
  override closePendingStep({ partial, answers }: PendingStep<ScriptedStepData>): ScriptedStepData {
    return { ...partial, answers: [...partial.answers, ...answers] };
  }

  static fromJSON(input: unknown): ScriptedState {
    return ScriptedState.codec.decode(input);
  }

  toJSON(): unknown {
    return ScriptedState.codec.encode(this);
  }
}

// Outside the class: a static field runs code, so bundlers would keep the class even if nothing uses it.
const codec: StateCodec<ScriptedState> = createStateCodec<ScriptedState, ScriptedStepData>({
  kind: 'scripted-state',
  step: {
    encode: ({ answers }): JsonObject => ({ answers }),
    decode: (step, fields) => ({ ...step, answers: fields.array('answers', readAnswer) }),
  },
  build: (data) => new ScriptedState(data),
});

/** Criteria of a scripted process, and its other parts. */
export interface ScriptedProcessOptions {
  readonly limits?: Limits;
  readonly policy?: ErrorPolicy;
  readonly finishReasons?: readonly string[];
  /** Stand after the standard criteria and the tool call check. */
  readonly extraCriteria?: readonly ContinuationCriterion<ScriptedState>[];
  /** Stand in place of all of them. */
  readonly criteria?: readonly ContinuationCriterion<ScriptedState>[];
  /** Moved by `takesMs`. */
  readonly clock?: FakeClock;
  readonly inspect?: StepProcess<ScriptedState>['inspect'];
}

/** Runs the script for the step that the state has come to; the last entry is used again and again. */
export type Script = readonly ScriptedStep[] | ((state: ScriptedState) => ScriptedStep);

async function hang(signal: AbortSignal, isDeaf: boolean): Promise<void> {
  await new Promise<void>((resolve) => {
    if (!isDeaf) signal.addEventListener('abort', () => resolve(), { once: true });
  });
  signal.throwIfAborted();
}

function entryFor(script: Script, state: ScriptedState): ScriptedStep {
  if (typeof script === 'function') return script(state);
  return script[Math.min(state.stepCount, script.length - 1)] ?? {};
}

function toStep(entry: ScriptedStep, { ids }: StepScope): ScriptedStepData {
  return {
    id: ids(),
    outputMessages: entry.text === undefined ? [] : [Message.assistant(entry.text, { ids })],
    usage: entry.usage === undefined ? Usage.none() : Usage.of(entry.usage),
    errors: entry.errors ?? [],
    answers: [],
    ...omitUndefined({ hasToolCalls: entry.hasToolCalls, finishReason: entry.finishReason }),
  };
}

function resumeStep(state: ScriptedState): ProducedStep<ScriptedStepData> | undefined {
  const { pendingStep, waitingFor: waits } = state;
  if (pendingStep === undefined) return undefined;
  const partial = state.closePendingStep(pendingStep);
  return waits.length === 0 ? { type: 'step', step: partial } : { type: 'waiting', partial, waits };
}

async function perform(entry: ScriptedStep, scope: StepScope, clock: FakeClock | undefined): Promise<void> {
  if (entry.evaluations !== undefined) scope.notes.add({ evaluations: entry.evaluations });
  if (entry.takesMs !== undefined) clock?.skip(entry.takesMs);
  if (entry.sleepsMs !== undefined) await scope.effects.sleep(`wait/${scope.stepNumber}`, entry.sleepsMs);
  if (entry.hangs !== undefined) await hang(scope.control.signal, entry.hangs === 'deaf');
  if ('throws' in entry) throw entry.throws;
}

/** A process that plays a script instead of asking a model. Everything it needs to continue is in the state. */
export function createScriptedProcess(script: Script, options: ScriptedProcessOptions = {}): StepProcess<ScriptedState> {
  const { limits, policy, finishReasons, extraCriteria = [], criteria, clock, inspect } = options;
  const standard = standardCriteria(omitUndefined({ limits, policy, finishReasons }));
  const presence = new ToolCallPresenceCheck<ScriptedState>(
    ({ stepCount, currentStep }) => stepCount === 0 || currentStep?.hasToolCalls === true,
  );
  return {
    name: 'scripted',
    criteria: ContinuationCriteria.from(...(criteria ?? [...standard, presence, ...extraCriteria])),
    ...(inspect !== undefined && { inspect }),
    emptyStep: (facts) => ({ ...facts, outputMessages: [], usage: Usage.none(), answers: [] }),
    produce: async (state, scope) => {
      const resumed = resumeStep(state);
      if (resumed !== undefined) return resumed;
      const entry = entryFor(script, state);
      await perform(entry, scope, clock);
      const step = toStep(entry, scope);
      return entry.waits === undefined ? { type: 'step', step } : { type: 'waiting', partial: step, waits: entry.waits };
    },
  };
}
