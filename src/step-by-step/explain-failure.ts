// The end of a failed run: which failures led to it.
import type { ContinuationEvaluation, DecisionPlace, Headline } from '../continuation/index.ts';
import { describeReason } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { describeFailure, getAdvice } from '../errors/index.ts';
import { toSentence } from '../lib/index.ts';
import type { StepResult } from './step-result.ts';

/** Number of failures that are listed one by one. */
const mostListed = 8;

/** The failures that ended a run, in words. */
export interface FailureStory {
  readonly headline: Headline;
  /** Indented lines below the headline. */
  readonly lines: readonly string[];
  /** Numbers of the steps whose failures the headline and the lines show. */
  readonly said: ReadonlySet<unknown>;
  readonly next: string;
}

/** Names a step, or steps in a row: `Step 2`, `Steps 2 to 4`. */
export const describeSteps = (first: number, last: number): string => {
  if (first === last) return `Step ${first}`;
  return `Steps ${first} ${last === first + 1 ? 'and' : 'to'} ${last}`;
};

/** Finds the failure that an evaluation is about; the first one if it does not say. */
function findDecisive(failures: readonly Failure[], { context }: ContinuationEvaluation): Failure | undefined {
  const { toolCallId, errorType, code } = context;
  return (
    failures.find((failure) => toolCallId !== undefined && failure.toolCallId === toolCallId) ??
    failures.find((failure) => code !== undefined && failure.code === code) ??
    failures.find((failure) => failure.type === errorType) ??
    failures[0]
  );
}

/** Returns the failed steps at the end of a run, as many as the policy counted in a row. */
function takeRow(results: readonly StepResult[], count: number): readonly StepResult[] {
  const lastGood = results.findLastIndex(({ step }) => step.errors.length === 0);
  return results.slice(lastGood + 1).slice(-Math.max(1, count));
}

/** Lists the failures of steps in a row; the same failure again shares a line with the one before. */
function listFailures(row: readonly StepResult[]): readonly string[] {
  const groups: { readonly text: string; readonly first: number; last: number }[] = [];
  for (const { number, step } of row) {
    const text = toSentence(step.errors.map(describeFailure).join('; '));
    const group = groups.at(-1);
    if (group?.text === text) group.last = number;
    else groups.push({ text, first: number, last: number });
  }
  return groups.map(({ text, first, last }) => `  ${describeSteps(first, last)}: ${text}`);
}

function truncateRow(lines: readonly string[]): readonly string[] {
  if (lines.length <= mostListed) return lines;
  return [`  … ${lines.length - mostListed} failures before these.`, ...lines.slice(-mostListed)];
}

/** Tells how failures ended a run; undefined if the last step has none. */
export function tellFailure(
  results: readonly StepResult[],
  deciding: ContinuationEvaluation,
  place: DecisionPlace,
): FailureStory | undefined {
  const failures = results.at(-1)?.step.errors.filter(({ code }) => code !== 'criterion-failed') ?? [];
  const decisive = findDecisive(failures, deciding);
  if (decisive === undefined) return undefined;
  const { consecutiveFailures: count = 1, cause } = deciding.context;
  const row = takeRow(results, typeof count === 'number' ? count : 1);
  const retried = cause === 'retries-used-up' && row.length > 1;
  const next = getAdvice({ ...decisive, retried });
  const reason = describeReason(deciding);
  if (row.length > 1) {
    const said = new Set(row.map(({ number }) => number));
    return {
      headline: { text: `Failed${place.afterStep}: ${toSentence(reason)}`, namesRule: false },
      lines: truncateRow(listFailures(row)),
      said,
      next,
    };
  }
  const decisiveIndex = failures.indexOf(decisive);
  const others = failures.filter((_, index) => index !== decisiveIndex).map((failure) => `  Also: ${toSentence(describeFailure(failure))}`);
  const said = new Set([results.at(-1)?.number]);
  if (cause === 'wait-too-long') {
    const lines = [`  Step ${results.at(-1)?.number ?? 0}: ${toSentence(describeFailure(decisive))}`, ...others];
    return { headline: { text: `Failed${place.inStep}: ${toSentence(reason)}`, namesRule: false }, lines, said, next };
  }
  const text = `Failed${place.inStep}: ${toSentence(describeFailure(decisive))}`;
  return { headline: { text, namesRule: false }, lines: truncateRow(others), said, next };
}
