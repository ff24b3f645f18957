// The end of an execution in words: completed, stopped, failed, aborted.
import type { ContinuationOutcome, DecisionPlace, ExplainableOutcome, Explanation, Headline } from '../continuation/index.ts';
import {
  describeCrashes,
  findDecisiveEvaluation,
  getNextAction,
  listQuiet,
  listRules,
  StopReason,
  toHeadline,
  toPlace,
} from '../continuation/index.ts';
import { toSentence, toShownText } from '../lib/index.ts';
import { isFinishedAtLimit } from './execution.ts';
import { tellFailure } from './explain-failure.ts';
import { listProblems, toCallKey } from './explain-way.ts';
import type { StepResult } from './step-result.ts';
import type { CallSummary, StepSummary } from './step-summary.ts';
import type { Step } from './step.ts';

/** Parts of a state that its end is explained by. */
export interface EndFacts {
  readonly outcome: ContinuationOutcome;
  /** True if the outcome is that of a start, or of an end between two steps. */
  readonly isBetweenSteps: boolean;
  readonly results: readonly StepResult[];
  /** Further sentences about the last step. */
  readonly notes: readonly string[];
  readonly summarize: (result: StepResult) => StepSummary;
}

/** Finish reasons of an answer that is whole. */
const normalFinish: ReadonlySet<string | undefined> = new Set([undefined, 'stop', 'tool_calls']);

const finishWords: Readonly<Record<string, { readonly said: string; readonly next: string }>> = {
  length: { said: 'the provider cut the answer off (length)', next: 'Raise settings.maxOutputTokens, or ask for a shorter answer.' },
  content_filter: {
    said: "the provider's content filter cut the answer off (content_filter)",
    next: 'Change the request, or the content filter of the provider.',
  },
};

const describeFinish = (reason: string): { readonly said: string; readonly next: string } =>
  finishWords[reason] ?? {
    said: `the provider ended the answer for an unusual reason (${toShownText(reason)})`,
    next: 'Check that the answer is whole before you use it.',
  };

const listNames = (calls: readonly CallSummary[]): string => [...new Set(calls.map(({ tool }) => toShownText(tool)))].join(' and ');

/** Tells a step that was interrupted: what ran then, and what is not known about it. Undefined if it was not. */
function tellInterruption({ outcome, summarize }: EndFacts, last: StepResult, place: DecisionPlace): Told | undefined {
  const { interrupted, outputMessages, errors } = last.step;
  const deciding = findDecisiveEvaluation(outcome);
  if (interrupted === undefined || deciding === undefined) return undefined;
  const { calls } = summarize(last);
  const unknown = calls.filter(({ status }) => status === 'unknown');
  const cut = calls.filter(({ status }) => status === 'unknown' || status === 'cancelled');
  const said = new Set<unknown>(cut.map(toCallKey(last)));
  if (interrupted === 'superseded')
    return { headline: { text: `Stopped${place.inStep}: a new message replaced what it was waiting for.`, namesRule: false }, said };
  const { person } = deciding.context;
  const unnamed = interrupted === 'signal' ? 'Aborted' : 'Stopped on request';
  const who = typeof person === 'string' ? `Cancelled by ${toShownText(person)}` : unnamed;
  const hasBegun = outputMessages.length > 0 || errors.length > 0 || calls.length > 0 || interrupted === 'signal';
  const where = place.inStep.replace(' in step', hasBegun ? ' during step' : ' before step');
  const verb = interrupted === 'signal' ? `${cut.length === 1 ? 'was' : 'were'} running` : `${cut.length === 1 ? 'was' : 'were'} waiting`;
  const running = cut.length > 0 ? ` while ${listNames(cut)} ${verb}` : '';
  const crashed = describeCrashes(deciding);
  const doubt = unknown.length > 0 ? ` ${listNames(unknown)} may or may not have taken effect.` : '';
  const text = `${who}${where}${running}: ${toSentence(toShownText(deciding.reason))}${crashed}${doubt}`;
  return { headline: { text, namesRule: false }, said };
}

/** Sentences about how the last step ended, beside its headline. */
function describeLastStep({ step, number }: StepResult, outcome: ContinuationOutcome): readonly string[] {
  const { interrupted, finalizing, finishReason } = step;
  const isRequest = outcome.stopReason === StopReason.UserRequested;
  return [
    ...(finalizing === true ? [`Step ${number} was one extra step, to sum up.`] : []),
    ...(interrupted === 'deadline' ? ['The step was cut off at the time limit.'] : []),
    ...(interrupted === 'vote' ? ['The rest of the step was skipped.'] : []),
    ...(interrupted !== undefined && interrupted !== 'deadline' && interrupted !== 'vote' && !isRequest
      ? ['The step was cut off by the signal.']
      : []),
    ...(!normalFinish.has(finishReason) &&
    outcome.stopReason !== StopReason.Completed &&
    outcome.stopReason !== StopReason.FinishReasonReceived
      ? [`In the last step ${describeFinish(finishReason ?? '').said}.`]
      : []),
  ];
}

/** Headline, lines below it and advice about an end, from the part of the story that says most. */
interface Told {
  readonly headline: Headline;
  readonly lines?: readonly string[];
  readonly next?: string | undefined;
  /** Failures and calls that are told already. */
  readonly said?: ReadonlySet<unknown>;
}

/** Tells a run that completed, but whose last answer did not end as it should; undefined if it did. */
function tellFinish({ finishReason }: Step, place: DecisionPlace): Told | undefined {
  if (finishReason === undefined || normalFinish.has(finishReason)) return undefined;
  const { said, next } = describeFinish(finishReason);
  return { headline: { text: `Completed${place.inStep}, but ${said}.`, namesRule: false }, next };
}

/** Tells an end after a step. */
function tellStepEnd(facts: EndFacts, last: StepResult, place: DecisionPlace): Told | undefined {
  const { outcome, results } = facts;
  const { stopReason } = outcome;
  const deciding = findDecisiveEvaluation(outcome);
  const finished = isFinishedAtLimit(outcome, last.step);
  if (stopReason === StopReason.Completed || finished) return tellFinish(last.step, place);
  if (stopReason === StopReason.UserRequested) return tellInterruption(facts, last, place);
  const hasFailed = stopReason === StopReason.ErrorForbade || stopReason === StopReason.RetryLimitReached;
  // A criterion that threw is the failure, whatever else the step has.
  if (!hasFailed || deciding === undefined || typeof deciding.context['criterion'] === 'string') return undefined;
  return tellFailure(results, deciding, place);
}

/** Leaves out the rule about calls: in the step that sums up, calls are refused. */
function withoutOpenCalls({ decision, shouldContinue, resolvedBy, stopReason, evaluations }: ContinuationOutcome): ExplainableOutcome {
  const others = evaluations.filter(({ context }) => context['hasToolCalls'] !== true);
  return { decision, shouldContinue, resolvedBy, stopReason, evaluations: others };
}

const toSummaryAction = (action: string | undefined): string | undefined => action?.replace(/^Raise /, 'Use the summary, or raise ');

/** Explains the outcome that stands: that of the last step, or of an end between steps. */
export function explainEnd(facts: EndFacts): Explanation {
  const { outcome, isBetweenSteps, results, notes, summarize } = facts;
  const last = results.at(-1);
  const stepNumber = last?.number ?? 0;
  const place = toPlace(stepNumber, isBetweenSteps ? undefined : last?.step.participant);
  const finished = !isBetweenSteps && isFinishedAtLimit(outcome, last?.step);
  const isSummedUp = !isBetweenSteps && last?.step.finalizing === true;
  const told = isBetweenSteps || last === undefined ? undefined : tellStepEnd(facts, last, place);
  const headline = told?.headline ?? toHeadline(outcome, { stepNumber, finished }, place);
  // The calls inside the last turn stand among its notes.
  const inTurn = new Set<unknown>(last === undefined || notes.length === 0 ? [] : summarize(last).calls.map(toCallKey(last)));
  const isSaid = (item: unknown): boolean => told?.said?.has(item) === true || inTurn.has(item);
  return {
    headline: headline.text,
    details: [
      ...(told?.lines ?? []),
      ...notes,
      ...(isBetweenSteps || last === undefined ? [] : describeLastStep(last, outcome)),
      ...listRules(isSummedUp ? withoutOpenCalls(outcome) : outcome, headline),
    ],
    onTheWay: listProblems({ results, summarize, isSaid }),
    next: told?.next ?? (finished ? undefined : isSummedUp ? toSummaryAction(getNextAction(outcome)) : getNextAction(outcome)),
    ...listQuiet(outcome),
  };
}
