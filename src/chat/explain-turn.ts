// A turn in words: who had it, who chose that, and what the run inside it did.
import { findDecisiveEvaluation, describeReason } from '../continuation/index.ts';
import { listSome, pluralize, toSentence, toShownText } from '../lib/index.ts';
import type { StepSummary } from '../step-by-step/index.ts';
import type { ChatStep, InnerRun, Selection } from './chat-step.ts';

/** Number of calls of a turn that a line has room for. */
const mostCalls = 6;

function describeSelection({ by, reason, problem }: Selection): string {
  const why = reason === undefined ? '' : `: ${toShownText(reason)}`;
  return `chosen by ${toShownText(by)}${why}.${problem === undefined ? '' : ` ${toSentence(toShownText(problem))}`}`;
}

/** Names calls with how they ended: `dig (3 times), export (failed)`. */
function countCalls(calls: NonNullable<InnerRun['calls']>): readonly string[] {
  const counts = new Map<string, { readonly tool: string; readonly facts: readonly string[]; count: number }>();
  for (const { tool, status } of calls) {
    const entry = counts.get(`${status}/${tool}`) ?? { tool: toShownText(tool), facts: status === 'succeeded' ? [] : [status], count: 0 };
    entry.count += 1;
    counts.set(`${status}/${tool}`, entry);
  }
  return [...counts.values()].map(({ tool, facts, count }) => {
    const all = count === 1 ? facts : [...facts, `${count} times`];
    return all.length === 0 ? tool : `${tool} (${all.join(', ')})`;
  });
}

function describeInner({ orchestrator, status, stepCount, outcome, calls = [] }: InnerRun): string {
  const deciding = outcome && findDecisiveEvaluation(outcome);
  const why =
    deciding === undefined || status === 'completed' ? '' : `, decided by ${toShownText(deciding.criterion)}: ${describeReason(deciding)}`;
  const end = status === 'waiting' ? 'waits' : status === 'in_progress' || status === 'pending' ? 'was left open' : status;
  const called = calls.length === 0 ? '' : `, called ${listSome(countCalls(calls), mostCalls)}`;
  return `Inside the turn (${toShownText(orchestrator)}): ${end} after ${pluralize(stepCount, 'step')}${called}${why}.`;
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
