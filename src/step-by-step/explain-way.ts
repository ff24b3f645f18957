// Problems on the way to an end: failed, blocked and rejected calls, retries, fallbacks, steps that were resumed.
import { describeCauses, describeFailure } from '../errors/index.ts';
import type { Failure } from '../errors/index.ts';
import { toSentence, toShownText } from '../lib/index.ts';
import type { StepResult } from './step-result.ts';
import type { CallSummary, StepSummary } from './step-summary.ts';

export interface WayFacts {
  readonly results: readonly StepResult[];
  readonly summarize: (result: StepResult) => StepSummary;
  /** True for the number of a step whose failures, and for the key of a call, that the headline or its list has already. */
  readonly isSaid: (item: unknown) => boolean;
}

/** Returns a function that identifies a call of this step: by the step, the tool and how it ended. */
export const toCallKey =
  ({ number }: StepResult) =>
  ({ tool, status }: CallSummary): string =>
    `${number}/${status}/${tool}`;

function describeCall({ tool, status, failure, reason, by }: CallSummary): string | undefined {
  const name = toShownText(tool);
  const why = reason === undefined || reason === '' ? '' : `: ${toShownText(reason)}`;
  switch (status) {
    case 'succeeded':
      return undefined;
    case 'failed':
      if (failure?.code === 'unknown-tool') return `the model called a tool that does not exist: ${name}`;
      return `${name} failed${failure === undefined ? '' : `: ${describeCauses(failure)}`}`;
    case 'blocked':
      return by === undefined ? `${name} was blocked${why}` : `hook ${toShownText(by)} blocked ${name}${why}`;
    case 'rejected':
      return by === undefined ? `${name} was rejected${why}` : `${toShownText(by)} rejected ${name}${why}`;
    case 'cancelled':
      return `${name} was cancelled before it ended`;
    case 'unknown':
      return `${name} was cut off and may or may not have taken effect`;
  }
}

const toSeconds = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`);

/** Says what the policy did about a failure. */
function describeHandling({ handling, outcome }: StepResult): string {
  if (handling?.decision === 'ignore') return ' Ignored by the error policy.';
  if (handling?.decision !== 'retry' || !outcome.shouldContinue) return '';
  return handling.delayMs === undefined || handling.delayMs === 0 ? ' Retry at once.' : ` Retry after ${toSeconds(handling.delayMs)}.`;
}

function describeStep(result: StepResult, { summarize, isSaid }: WayFacts): readonly string[] {
  const { step, number } = result;
  const { calls, notes } = summarize(result);
  const after = describeHandling(result);
  const lines = calls
    .filter((call) => !isSaid(toCallKey(result)(call)) && !(call.failure !== undefined && isSaid(number)))
    .flatMap((call) => {
      const line = describeCall(call);
      return line === undefined ? [] : [call.status === 'failed' ? `${toSentence(line)}${after}` : line];
    });
  const isOfCall = (failure: Failure): boolean =>
    failure.toolCallId !== undefined && calls.some((call) => call.failure?.toolCallId === failure.toolCallId);
  const others = isSaid(number) ? [] : step.errors.filter((failure) => failure.code !== 'criterion-failed' && !isOfCall(failure));
  const resumed = step.resumed === true ? ['a process ended in this step, and another one resumed it'] : [];
  const turn = step.participant === undefined ? '' : `, ${toShownText(step.participant)}`;
  return [...resumed, ...notes, ...others.map((failure) => `${toSentence(describeFailure(failure))}${after}`), ...lines].map(
    (line) => `Step ${number}${turn}: ${toSentence(line)}`,
  );
}

/** Lists what went wrong on the way, oldest first. */
export function listProblems(facts: WayFacts): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of facts.results.flatMap((result) => describeStep(result, facts))) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} (${count} times)`));
}
