import { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import type { StopReason } from './stop-reason.ts';

/** The part of an outcome that can be put in words. */
interface Explainable {
  readonly shouldContinue: boolean;
  readonly resolvedBy: string;
  readonly stopReason: StopReason | undefined;
  readonly evaluations: readonly ContinuationEvaluation[];
}

/** Facts that the outcome itself does not know. */
export interface ExplainOptions {
  /** The step that was judged; 0 for a start that was judged. */
  readonly stepNumber?: number;
  /** True where the work was done although a limit was reached in the same step. */
  readonly finished?: boolean;
  /** Leaves out those who merely allowed. @default false */
  readonly brief?: boolean;
}

const words = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten', 'Eleven', 'Twelve'];
const inWords = (count: number): string => words[count] ?? String(count);

const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
const names = (evaluations: readonly ContinuationEvaluation[]): string => evaluations.map(({ criterion }) => criterion).join(', ');

// A default reason begins with the criterion's name and says what it did; nothing needs to be said twice.
const line =
  (did: string) =>
  ({ criterion, reason }: ContinuationEvaluation): string =>
    reason.startsWith(`${criterion} `) ? asSentence(reason) : `${criterion}${did}: ${asSentence(reason)}`;

function headline(outcome: Explainable, stepNumber: number | undefined, finished: boolean): string {
  const { shouldContinue, stopReason = 'completed', resolvedBy } = outcome;
  const step = stepNumber === undefined ? '' : ` after step ${stepNumber}`;
  if (shouldContinue) return stepNumber === 0 ? 'Started.' : `Went on${step}.`;
  if (finished) return `Finished${step}; ${resolvedBy} was reached in the same step (${stopReason}).`;
  const completed = stopReason === 'completed';
  if (stepNumber === 0) return `${completed ? 'Did not start' : 'Refused to start'}: ${stopReason}.`;
  return `${completed ? 'Finished' : 'Stopped'}${step}: ${stopReason}.`;
}

function others(allowing: readonly ContinuationEvaluation[], wereCutShort: boolean): string {
  const noun = allowing.length === 1 ? 'criterion' : 'criteria';
  const verb = wereCutShort ? 'would have gone on' : 'had nothing against going on';
  return `${inWords(allowing.length)} other ${noun} ${verb}: ${names(allowing)}.`;
}

const couldNotCount = ({ context }: ContinuationEvaluation): boolean => typeof context['unknownCalls'] === 'number';

/** Renders an outcome for people: who forbade, who asked to go on, who let go, each with its reason; then the rest by name. */
export function explainOutcome(outcome: Explainable, options: ExplainOptions): string {
  const { ForbidContinuation, RequestContinuation, AllowStop, AllowContinuation } = ContinuationDecision;
  const by = (decision: ContinuationDecision): readonly ContinuationEvaluation[] =>
    outcome.evaluations.filter((evaluation) => evaluation.decision === decision);
  const forbidding = by(ForbidContinuation);
  const requesting = by(RequestContinuation);
  const allowing = by(AllowContinuation);
  const finished = options.finished === true && forbidding.length > 0;

  const lines = [
    headline(outcome, options.stepNumber, finished),
    ...forbidding.map(line('')),
    ...requesting.map(line(' asked to go on')),
    ...by(AllowStop).map(line(' let go')),
    // What a limit could not count is worth a line: it is not a limit there.
    ...allowing.filter(couldNotCount).map(line(' could not count all')),
  ];
  if (outcome.evaluations.length === 0) lines.push('There were no criteria to ask.');
  if (outcome.shouldContinue && requesting.length === 0) lines.push(`Nobody forbade and nobody let go: ${names(allowing)}.`);
  else {
    const rest = allowing.filter((evaluation) => !couldNotCount(evaluation));
    if (rest.length > 0 && options.brief !== true) lines.push(others(rest, forbidding.length > 0 && !finished));
  }
  return lines.join('\n');
}
