// A turn in words: who had it, who chose that, and what the run inside it did.
import { findDeciding, describeReason } from '../continuation/index.ts';
import { listSome, pluralize, toSentence, toShownText } from '../lib/index.ts';
import type { StepSummary } from '../step-by-step/index.ts';
import type { ChatStep, InnerRun, Selection } from './chat-step.ts';

/** Number of calls of a turn that a line has room for. */
const mostCalls = 6;

function describeSelection({ by, reason, problem }: Selection): string {
  const why = reason === undefined ? '' : `: ${toShownText(reason)}`;
  return `chosen by ${toShownText(by)}${why}.${problem === undefined ? '' : ` ${toSentence(toShownText(problem))}`}`;
}

function describeInner({ status, stepCount, outcome, calls = [] }: InnerRun): string {
  const deciding = outcome && findDeciding(outcome);
  const why =
    deciding === undefined || status === 'completed' ? '' : ` by ${toShownText(deciding.criterion)} (${describeReason(deciding)})`;
  const end = status === 'waiting' ? 'waits' : status === 'in_progress' || status === 'pending' ? 'was left open' : status;
  const called = calls.map(({ tool, status: ended }) => (ended === 'succeeded' ? toShownText(tool) : `${toShownText(tool)} (${ended})`));
  const list = called.length === 0 ? '' : `; called ${listSome(called, mostCalls)}`;
  return `Inside the turn: ${end}${why} after ${pluralize(stepCount, 'step')}${list}.`;
}

/** Describes the turn that a step is. A turn that waits has no run inside that has ended. */
export function describeTurn({ participant, selection, inner }: ChatStep, hasEnded: boolean): readonly string[] {
  const name = participant === undefined ? undefined : toShownText(participant);
  const hasReason = selection?.reason !== undefined || selection?.problem !== undefined;
  const isShown = selection !== undefined && (hasEnded || hasReason);
  return [
    ...(isShown && name !== undefined ? [`${name} was ${describeSelection(selection)}`] : []),
    ...(inner === undefined || !hasEnded ? [] : [describeInner(inner)]),
  ];
}

/** Summarizes a turn: its calls that did not succeed. */
export const summarizeTurn = ({ inner }: ChatStep): StepSummary => ({
  calls: (inner?.calls ?? []).map(({ tool, status }) => ({ tool, status })),
  notes: [],
});
