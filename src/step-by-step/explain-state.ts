// A state in words: why it stopped, what it waits for, or that it can continue.
import type { ContinuationOutcome, Explanation } from '../continuation/index.ts';
import { renderExplanation, toPlace } from '../continuation/index.ts';
import type { CoolDowns } from '../inference/index.ts';
import { listCoolingDown } from '../inference/index.ts';
import { pluralize, toSentence, toShownText } from '../lib/index.ts';
import type { Execution, ExecutionStatus } from './execution.ts';
import { explainEnd } from './explain-end.ts';
import { describeCrashLoop, describeWaits, getWaitAction, toIso } from './explain-wait.ts';
import { listProblems } from './explain-way.ts';
import type { StepResult } from './step-result.ts';
import type { StepSummary } from './step-summary.ts';
import type { PendingStep, Wait } from './waiting.ts';

/** Parts of a state that an explanation uses. */
interface Explainable {
  readonly status: ExecutionStatus;
  readonly stepCount: number;
  readonly stepResults: readonly StepResult[];
  readonly lastContinuationOutcome: ContinuationOutcome | undefined;
  readonly startOutcome: ContinuationOutcome | undefined;
  readonly waitingFor: readonly Wait[];
  readonly pendingStep: PendingStep | undefined;
  readonly coolDowns: CoolDowns;
  readonly info: { readonly updatedAt: number };
  readonly execution: Pick<Execution, 'grantRefused' | 'grantRefusedBy' | 'regranted' | 'crashLoop'>;
  summarizeResult(result: StepResult): StepSummary;
  describeTurn(): readonly string[];
}

/** Level of detail. */
export interface ExplainStateOptions {
  /** Leaves out the rules that had no objection. @default false */
  readonly brief?: boolean;
}

/** Lists the models that were skipped at the last change of the state. */
function describeCoolDowns({ coolDowns, info }: Explainable): readonly string[] {
  return listCoolingDown(coolDowns, info.updatedAt).map((name) => {
    const { failures, until } = coolDowns[name] ?? { failures: 0, until: 0 };
    const failed = failures === 1 ? 'it failed' : `it failed ${pluralize(failures, 'time')} in a row`;
    return `Model ${toShownText(name)} is skipped until ${toIso(until)}: ${failed} and another model answered.`;
  });
}

const listOnTheWay = (state: Explainable): readonly string[] =>
  listProblems({
    results: state.stepResults,
    summarize: (result) => state.summarizeResult(result),
    isSaid: () => false,
  });

function explainLastOutcome(state: Explainable): Explanation {
  const outcome = state.lastContinuationOutcome;
  if (outcome === undefined) return { headline: 'Started; no step has ended yet.', details: [] };
  return explainEnd({
    outcome,
    isBetweenSteps: state.startOutcome !== undefined,
    results: state.stepResults,
    notes: state.startOutcome === undefined ? state.describeTurn() : [],
    summarize: (result) => state.summarizeResult(result),
  });
}

function explainWaiting(state: Explainable): Explanation {
  const { waitingFor, pendingStep, stepCount } = state;
  const [first] = waitingFor;
  const next = first && getWaitAction(first);
  if (pendingStep !== undefined) {
    const { participant } = pendingStep.partial;
    const { inStep } = toPlace(stepCount + 1, participant);
    const resumed = pendingStep.partial.resumed === true ? ['A process ended in this step, and another one resumed it.'] : [];
    const headline = `Waiting${inStep} for ${toSentence(describeWaits(waitingFor, participant))}`;
    return { headline, details: [...resumed, ...state.describeTurn()], onTheWay: listOnTheWay(state), next };
  }
  const ended = explainLastOutcome(state);
  const limit = ended.headline.replace(/^(?:Stopped[^:]*|Not started): /, '');
  const { afterStep } = toPlace(stepCount);
  return { ...ended, headline: `Waiting${afterStep} for ${describeWaits(waitingFor)}: ${limit}`, next };
}

function explainStatus(state: Explainable): Explanation {
  const { crashLoop, regranted, grantRefused, grantRefusedBy } = state.execution;
  const { pendingStep, stepCount } = state;
  if (crashLoop !== undefined) {
    const [wait] = state.waitingFor;
    return {
      headline: describeCrashLoop(stepCount + 1, crashLoop),
      details: [],
      onTheWay: listOnTheWay(state),
      next: wait && getWaitAction(wait),
    };
  }
  if (state.status === 'pending') return { headline: 'Not started: no run has begun since the last input.', details: [] };
  if (state.waitingFor.length > 0) return explainWaiting(state);
  if (pendingStep !== undefined)
    return {
      headline: `Ready to continue with step ${pendingStep.number}: everything it waited for was answered.`,
      details: [],
      onTheWay: listOnTheWay(state),
    };
  if (regranted === true)
    return { headline: `Ready to continue after step ${stepCount}: more was granted.`, details: [], onTheWay: listOnTheWay(state) };
  const ended = explainLastOutcome(state);
  if (grantRefused === undefined) return ended;
  const who = grantRefusedBy === undefined ? 'Somebody refused to grant more' : `${toShownText(grantRefusedBy)} refused to grant more`;
  // Somebody has decided that this is enough.
  return { ...ended, details: [`${who}: ${toSentence(toShownText(grantRefused))}`, ...ended.details], next: undefined };
}

/** Explains the status of a state and the reasons for it. */
export function explainState(state: Explainable, options: ExplainStateOptions): string {
  const explained = explainStatus(state);
  return renderExplanation({ ...explained, onTheWay: [...(explained.onTheWay ?? []), ...describeCoolDowns(state)] }, options);
}
