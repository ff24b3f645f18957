// Problems on the way to an end: failed, blocked and rejected calls, retries, fallbacks, steps that were resumed.
import { describeCauses, describeFailure } from '../errors/index.ts';
import type { Failure } from '../errors/index.ts';
import { listAll, toSentence, toShownText } from '../lib/index.ts';
import { describeSteps } from './explain-failure.ts';
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

function describeCall({ tool, status, failure, reason, by, caller }: CallSummary): string | undefined {
  const name = `${toShownText(tool)}${caller === undefined ? '' : ` (called by ${toShownText(caller)})`}`;
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
      return `${name} was cancelled`;
    case 'unknown':
      return `${name} was cut off and may or may not have taken effect`;
  }
}

const toSeconds = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`);

/** Reaction of the policy to a failure. */
interface Handled {
  readonly by?: 'ignored' | 'retried';
  readonly delayMs?: number;
}

function readHandling({ handling, outcome }: StepResult): Handled {
  if (handling?.decision === 'ignore') return { by: 'ignored' };
  if (handling?.decision !== 'retry' || !outcome.shouldContinue) return {};
  return { by: 'retried', delayMs: handling.delayMs ?? 0 };
}

/** A problem of one step, or the same problem of several steps in a row. */
interface Problem {
  readonly turn: string;
  readonly text: string;
  /** True if the model reads the failure: that of a call. */
  readonly isReported: boolean;
  readonly by: Handled['by'];
  readonly first: number;
  last: number;
  count: number;
  readonly delays: number[];
}

/** Says what the policy did about a failure, once for each time that it happened. */
function describeHandling({ by, isReported, delays }: Problem): string {
  if (by === undefined) return '';
  if (by === 'ignored') return ' Ignored by the error policy.';
  const waits = delays.some((ms) => ms > 0) ? `retry after ${listAll(delays.map(toSeconds))}` : undefined;
  if (isReported) return ` Reported to the model${waits === undefined ? '' : `, ${waits}`}.`;
  return waits === undefined ? ' Retry at once.' : ` R${waits.slice(1)}.`;
}

function renderProblem(problem: Problem): string {
  const { turn, text, first, last, count } = problem;
  const times = count > last - first + 1 ? ` (${count} times)` : '';
  return `${describeSteps(first, last)}${turn}: ${toSentence(text)}${describeHandling(problem)}${times}`;
}

function listStepProblems(result: StepResult, { summarize, isSaid }: WayFacts): readonly Problem[] {
  const { step, number } = result;
  const { calls, notes } = summarize(result);
  const { by, delayMs } = readHandling(result);
  const turn = step.participant === undefined ? '' : `, ${toShownText(step.participant)}`;
  const place = { turn, first: number, last: number, count: 1 };
  const note = (text: string): Problem => ({ ...place, text, isReported: false, by: undefined, delays: [] });
  const fail = (text: string, isReported: boolean): Problem => {
    return { ...place, text, isReported, by, delays: delayMs === undefined ? [] : [delayMs] };
  };
  const ofCalls = calls
    .filter((call) => !isSaid(toCallKey(result)(call)) && !(call.failure !== undefined && isSaid(number)))
    .flatMap((call) => {
      const text = describeCall(call);
      return text === undefined ? [] : [call.status === 'failed' ? fail(text, true) : note(text)];
    });
  const isOfCall = (failure: Failure): boolean =>
    failure.toolCallId !== undefined && calls.some((call) => call.failure?.toolCallId === failure.toolCallId);
  const others = isSaid(number) ? [] : step.errors.filter((failure) => failure.code !== 'criterion-failed' && !isOfCall(failure));
  const resumed = step.resumed === true ? ['a process ended in this step, and another one resumed it'] : [];
  return [...[...resumed, ...notes].map(note), ...others.map((failure) => fail(describeFailure(failure), false)), ...ofCalls];
}

/** Lists what went wrong on the way, oldest first. A problem of several steps in a row is listed once. */
export function listProblems(facts: WayFacts): readonly string[] {
  const problems: Problem[] = [];
  for (const problem of facts.results.flatMap((result) => listStepProblems(result, facts))) {
    const { turn, text, by, first } = problem;
    const same = problems.find((each) => each.turn === turn && each.text === text && each.by === by && each.last >= first - 1);
    if (same === undefined) {
      problems.push(problem);
      continue;
    }
    if (same.last < first) same.delays.push(...problem.delays);
    same.last = first;
    same.count += 1;
  }
  return problems.map(renderProblem);
}
