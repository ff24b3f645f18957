// An outcome in words.
// Owns:     the headline of a decision, and the line for each rule that had something to say.
// Does not: know the steps: a state adds its failures and calls.
import { adviceByCode, getAdvice } from '../errors/index.ts';
import { pluralize, toSentence, toShownText } from '../lib/index.ts';
import { ContinuationDecision } from './continuation-decision.ts';
import { findDecisiveEvaluation } from './resolve-evaluations.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import {
  describeNumbers,
  describeReachedLimit,
  describeReason,
  isDefaultReason,
  describeRule,
  limitOptions,
  limitUnits,
} from './describe-evaluation.ts';
import { describeStopReason } from './describe-stop-reason.ts';
import type { Explanation } from './explanation.ts';
import { renderExplanation } from './explanation.ts';
import { StopReason } from './stop-reason.ts';

/** The part of an outcome that can be put in words. */
export interface ExplainableOutcome {
  readonly decision: ContinuationDecision;
  readonly shouldContinue: boolean;
  readonly resolvedBy: string;
  readonly stopReason: StopReason | undefined;
  readonly evaluations: readonly ContinuationEvaluation[];
}

/** Facts that the outcome itself does not know. */
export interface ExplainOptions {
  /** The step that was judged; 0 for a start that was judged. */
  readonly stepNumber?: number;
  /** True if the work was done although a limit was reached in the same step. */
  readonly finished?: boolean;
  /** Leaves out the rules that had no objection. @default false */
  readonly brief?: boolean;
}

/** Place of a decision in a run, in the words of a headline. */
export interface DecisionPlace {
  /** ` in step 2`, or nothing if it is not known. */
  readonly inStep: string;
  /** ` after step 2`, ` before step 1`. */
  readonly afterStep: string;
  /** True if no step was taken yet. */
  readonly isStart: boolean;
}

/** Returns the place of a decision about this step; 0 stands for a start. */
export function toPlace(stepNumber: number | undefined, participant?: string): DecisionPlace {
  if (stepNumber === undefined) return { inStep: '', afterStep: '', isStart: false };
  const turn = participant === undefined ? '' : ` (turn of ${toShownText(participant)})`;
  if (stepNumber === 0) return { inStep: ' before step 1', afterStep: ' before step 1', isStart: true };
  return { inStep: ` in step ${stepNumber}${turn}`, afterStep: ` after step ${stepNumber}${turn}`, isStart: false };
}

const { ForbidContinuation, RequestContinuation, AllowStop, AllowContinuation } = ContinuationDecision;

/** Reason for completing. Nothing failed and nothing is open in a run that completed without calls: the model answered. */
function describeCompletion(deciding: ContinuationEvaluation | undefined): string {
  if (deciding === undefined) return 'there were no rules to ask';
  return deciding.context['hasToolCalls'] === false ? 'the model answered and called no tools' : describeReason(deciding);
}

/** A headline, and whether it names the rule that decided, so that no other line has to. */
export interface Headline {
  readonly text: string;
  readonly namesRule: boolean;
}

const hookPoints: Readonly<Record<string, 'before' | 'after'>> = { before_step: 'before', execution_start: 'before', after_step: 'after' };

/** Describes a stop by a hook: `Hook tenant-budget stopped the run before step 2: …`. */
function describeHookStop(deciding: ContinuationEvaluation, stepNumber: number | undefined): string | undefined {
  const { point } = deciding.context;
  if (typeof point !== 'string' || deciding.limit !== undefined) return undefined;
  const when = hookPoints[point];
  const step =
    stepNumber === undefined
      ? ''
      : when === 'before'
        ? ` before step ${stepNumber + 1}`
        : `${when === 'after' ? ' after' : ' during'} step ${stepNumber}`;
  const at = stepNumber === undefined || when === 'before' ? step : ` ${step.trimStart()}`;
  return `Hook ${toShownText(deciding.criterion)} stopped the run${at}: ${describeReason(deciding)}`;
}

/** Describes a criterion that threw, or whose answer could not be used. */
function describeBrokenCriterion({ context }: ContinuationEvaluation, place: DecisionPlace): string | undefined {
  const { criterion, message } = context;
  if (typeof criterion !== 'string' || typeof message !== 'string') return undefined;
  const problem = message.replace(`Criterion "${criterion}" failed: `, '');
  const verb = problem.startsWith('it returned') ? 'failed' : 'threw';
  const kept = place.isStart ? '' : ' The step was kept.';
  return `Your criterion ${toShownText(criterion)} ${verb}${place.afterStep}: ${toSentence(toShownText(problem))}${kept}`;
}

/** Says that the process ended in the step that was stopped, if it did. */
export function describeCrashes({ context: { attempts } }: ContinuationEvaluation): string {
  if (typeof attempts !== 'number') return '';
  return ` The process ended in this step${attempts === 0 ? '' : ` each of the ${pluralize(attempts, 'time')} it was resumed`}.`;
}

/** Describes a stop that somebody asked for. */
function describeRequest(deciding: ContinuationEvaluation, place: DecisionPlace): string {
  const { by, person } = deciding.context;
  const who = typeof person === 'string' ? ` by ${toShownText(person)}` : '';
  const verb = who === '' ? (by === 'signal' ? 'Aborted' : 'Stopped on request') : `Cancelled${who}`;
  const { crashedStep } = deciding.context;
  if (typeof crashedStep === 'number')
    return `${verb} in step ${crashedStep}: ${toSentence(toShownText(deciding.reason))}${describeCrashes(deciding)}`;
  return `${verb}${by === 'signal' ? place.inStep : place.afterStep}: ${toShownText(deciding.reason)}`;
}

const hasFailed = ({ stopReason }: ExplainableOutcome): boolean =>
  stopReason === StopReason.ErrorForbade || stopReason === StopReason.RetryLimitReached;

const toHeadlineText = (text: string): Headline => ({ text: toSentence(text), namesRule: false });
const toNamingHeadline = (text: string): Headline => ({ text: toSentence(text), namesRule: true });

/** Everything that a headline is made from. */
interface HeadlineFacts {
  readonly outcome: ExplainableOutcome;
  readonly deciding: ContinuationEvaluation;
  readonly stepNumber: number | undefined;
  readonly place: DecisionPlace;
}

function toStopHeadline({ outcome, deciding, stepNumber, place }: HeadlineFacts): Headline {
  const { stopReason } = outcome;
  const broken = describeBrokenCriterion(deciding, place);
  if (broken !== undefined) return toNamingHeadline(broken);
  if (stopReason === StopReason.UserRequested && typeof deciding.context['by'] === 'string')
    return toHeadlineText(describeRequest(deciding, place));
  const hook = describeHookStop(deciding, stepNumber);
  if (hook !== undefined) return toNamingHeadline(hook);
  const verb = place.isStart && !hasFailed(outcome) ? 'Not started' : `${hasFailed(outcome) ? 'Failed' : 'Stopped'}${place.afterStep}`;
  const limit = describeReachedLimit(deciding);
  if (limit !== undefined) return toHeadlineText(`${verb}: ${limit}`);
  return stopReason === StopReason.GuardForbade
    ? toNamingHeadline(`${verb}${place.isStart ? ':' : ' by'} ${describeRule(deciding)}`)
    : toHeadlineText(`${verb}: ${describeReason(deciding)}`);
}

/** Writes the headline of an outcome: what was decided, where, and why. */
export function toHeadline(
  outcome: ExplainableOutcome,
  options: ExplainOptions = {},
  place: DecisionPlace = toPlace(options.stepNumber),
): Headline {
  const deciding = findDecisiveEvaluation(outcome);
  if (outcome.shouldContinue) {
    if (place.isStart) return toHeadlineText('Started');
    const sumsUp = outcome.evaluations.find(({ atLimit }) => atLimit === 'finalize');
    const limit = sumsUp && describeReachedLimit(sumsUp);
    if (limit !== undefined) return toHeadlineText(`Continued${place.afterStep} with one step to sum up: ${limit}`);
    return toHeadlineText(
      `Continued${place.afterStep}: ${deciding === undefined ? 'no rule objected or asked to stop' : describeReason(deciding)}`,
    );
  }
  if (options.finished === true && outcome.decision === ForbidContinuation) {
    const stopping = outcome.evaluations.find(({ decision }) => decision === AllowStop);
    const reached = (deciding && describeReachedLimit(deciding)) ?? `${outcome.resolvedBy} was reached`;
    const limit = reached.replace(/^./, (letter) => letter.toUpperCase()).replace(' was reached', ' was reached in the same step');
    return toHeadlineText(`Completed${place.inStep}: ${toSentence(describeCompletion(stopping))} ${toSentence(limit)}`);
  }
  if (outcome.stopReason === StopReason.Completed)
    return toHeadlineText(
      place.isStart ? `Not started: ${describeCompletion(deciding)}` : `Completed${place.inStep}: ${describeCompletion(deciding)}`,
    );
  return deciding === undefined
    ? toHeadlineText(`Stopped${place.afterStep}: ${outcome.stopReason ?? StopReason.GuardForbade}`)
    : toStopHeadline({ outcome, deciding, stepNumber: options.stepNumber, place });
}

const couldNotCount = ({ context }: ContinuationEvaluation): boolean => typeof context['unknownCalls'] === 'number';

/** That no call is left says nothing new about a run that was ended. */
const isWorthALine =
  ({ shouldContinue }: ExplainableOutcome) =>
  ({ context }: ContinuationEvaluation): boolean =>
    shouldContinue || context['hasToolCalls'] !== false;

/** Returns a function that describes a rule and what it did. A default reason says both. */
const toLineWith =
  (did: string) =>
  (evaluation: ContinuationEvaluation): string =>
    isDefaultReason(evaluation) ? describeReason(evaluation) : `${toShownText(evaluation.criterion)} ${did}: ${describeReason(evaluation)}`;

/** Lists the rules that had something to say, each with its reason; the deciding one first, unless the headline has it. */
export function listRules(outcome: ExplainableOutcome, { text, namesRule }: Headline): readonly string[] {
  const deciding = findDecisiveEvaluation(outcome);
  const select = (decision: ContinuationDecision): readonly ContinuationEvaluation[] =>
    outcome.evaluations.filter((evaluation) => evaluation.decision === decision && evaluation !== deciding);
  const isSaid =
    deciding !== undefined &&
    (text.includes(describeReason(deciding)) || deciding.limit !== undefined || text.includes(describeCompletion(deciding)));
  const decided =
    deciding === undefined || namesRule ? [] : [`Decided by ${isSaid ? toShownText(deciding.criterion) : describeRule(deciding)}`];
  return [
    ...decided,
    ...select(ForbidContinuation).map(toLineWith('also objected')),
    ...select(RequestContinuation).map(toLineWith('asked for another step')),
    ...select(AllowStop).filter(isWorthALine(outcome)).map(toLineWith('agreed to stop')),
    // What a limit could not count is worth a line: it does not limit that.
    ...select(AllowContinuation).filter(couldNotCount).map(toLineWith('could not count everything')),
  ].map(toSentence);
}

/** Lists the rules that had no objection, and the limits that were not reached. */
export function listQuiet({ evaluations, shouldContinue }: ExplainableOutcome): Pick<Explanation, 'quiet' | 'underLimit'> {
  const allowing = evaluations.filter(
    (evaluation) => evaluation.decision === AllowContinuation && (shouldContinue || !couldNotCount(evaluation)),
  );
  const isUnder = ({ limit, atLimit }: ContinuationEvaluation): boolean => limit !== undefined && atLimit === undefined;
  return {
    quiet: allowing.filter((evaluation) => !isUnder(evaluation)).map(({ criterion }) => toShownText(criterion)),
    underLimit: allowing.filter(isUnder).map((evaluation) => {
      // Times differ from run to run and say little.
      const isTime = evaluation.limit === 'wall' || evaluation.limit === 'active';
      const numbers = isTime ? undefined : describeNumbers(evaluation);
      return `${toShownText(evaluation.criterion)}${numbers === undefined ? '' : ` (${numbers})`}`;
    }),
  };
}

const limitRules = new Set(['StepsLimit', 'TokenUsageLimit', 'ExecutionTimeLimit', 'CumulativeExecutionTimeLimit', 'CostLimit']);

/** Names the option that raises a limit; for a rule of the host's own, the rule. */
const getLimitName = ({ criterion, limit = 'steps' }: ContinuationEvaluation): string =>
  limitRules.has(criterion) ? limitOptions[limit] : `the limit of ${toShownText(criterion)}`;

/** Returns one thing to do after a stop; undefined if there is nothing to do. */
export function getNextAction(outcome: ExplainableOutcome): string | undefined {
  const { stopReason } = outcome;
  const deciding = findDecisiveEvaluation(outcome);
  if (stopReason === undefined || stopReason === StopReason.Completed || deciding === undefined) return undefined;
  if (typeof deciding.context['criterion'] === 'string' && stopReason === StopReason.ErrorForbade) return adviceByCode['criterion-failed'];
  if (deciding.limit !== undefined) return `Raise ${getLimitName(deciding)} if the work needs more ${limitUnits[deciding.limit]}.`;
  if (stopReason === StopReason.ErrorForbade && typeof deciding.context['code'] === 'string')
    return getAdvice({ code: deciding.context['code'], type: 'unknown' });
  if (typeof deciding.context['point'] === 'string')
    return `Resolve what ${toShownText(deciding.criterion)} objects to, then send a message to continue.`;
  if (stopReason === StopReason.FinishReasonReceived && deciding.context['finishReason'] === 'length')
    return 'Raise settings.maxOutputTokens, or ask for a shorter answer.';
  if (typeof deciding.context['maxRepeats'] === 'number')
    return 'Find out why the model repeats the call, then send a message to continue.';
  if (stopReason === StopReason.GuardForbade)
    return `Resolve what ${toShownText(deciding.criterion)} objects to, then send a message to continue.`;
  return describeStopReason(stopReason).next;
}

/** Explains an outcome in parts. */
export function describeOutcome(outcome: ExplainableOutcome, options: ExplainOptions): Explanation {
  const headline = toHeadline(outcome, options);
  return {
    headline: headline.text,
    details: listRules(outcome, headline),
    next: options.finished === true ? undefined : getNextAction(outcome),
    ...listQuiet(outcome),
  };
}

/** Explains an outcome: the decision and its reason, the rule that made it, the rules that disagreed, and what to do. */
export const explainOutcome = (outcome: ExplainableOutcome, options: ExplainOptions): string =>
  renderExplanation(describeOutcome(outcome, options), options);
