// Lines of the events that the loop emits.
import { listSome, pluralize } from '../../lib/index.ts';
import type { EventFields } from './event-fields.ts';
import type { Describers } from './event-line.ts';
import { describeOutcome } from './outcome.ts';
import { after, describeFailure, describeInstant, describeTime, describeUsage, describeWait } from './phrases.ts';

const interruptions: Readonly<Record<string, string>> = {
  signal: 'aborted',
  request: 'stopped on request',
  deadline: 'cut off by the time limit',
  superseded: 'given up for a new message',
  vote: 'ended early by a hook',
};

/** Finish reasons of an answer that is whole. */
const normalFinish = new Set(['', 'stop', 'tool_calls']);

function describeStep(event: EventFields): string {
  const time = describeTime(event.number('durationMs'));
  const errors = event.texts('errorMessages');
  const usage = event.inner('usage');
  const tokens = usage.number('total') > 0 ? `, ${describeUsage(usage)}` : '';
  const finish = event.text('finishReason');
  const unfinished = normalFinish.has(finish) ? '' : `, but the provider ended the answer early (${finish})`;
  if (errors.length > 0) return `failed after ${time}${tokens}: ${errors.join('; ')}`;
  if (event.has('interrupted')) {
    const how = interruptions[event.text('interrupted')] ?? `interrupted (${event.text('interrupted')})`;
    return `${how} after ${time}${tokens}${unfinished}`;
  }
  return `completed in ${time}${tokens}${unfinished}`;
}

/** Describes the refusal to raise a limit; empty if there is none. */
function describeRefusal(refusal: EventFields): string {
  if (!refusal.has('reason')) return '';
  const who = refusal.has('by') ? refusal.text('by') : 'somebody';
  return `; ${who} refused to grant more: ${refusal.text('reason')}`;
}

function describeEnd(event: EventFields): string {
  const steps = pluralize(event.number('stepCount'), 'step');
  const waits = event.list('waitingFor').map(describeWait);
  const status = event.text('status').replace('in_progress', 'left open');
  if (waits.length > 0) return `run waits after ${steps} for ${waits.join('; ')}`;
  if (!event.has('stopReason')) return `run ${status} after ${steps}`;
  const [reason, rule, usage] = [event.text('stopReason'), event.text('resolvedBy'), describeUsage(event.inner('usage'))];
  // The work was done in the very step that reached a limit.
  if (status === 'completed' && reason !== status)
    return `run completed after ${steps}, and ${rule} was reached in the same step (${reason}); ${usage}`;
  const why = status === reason ? '' : ` (${reason})`;
  return `run ${status} after ${steps}${why}, decided by ${rule}${describeRefusal(event.inner('grantRefused'))}; ${usage}`;
}

function describeRetry(event: EventFields): string {
  const [failures, allowed] = [event.number('failures'), event.number('maxRetries')];
  // The allowed number counts attempts, the first one included. A policy may retry longer than that.
  const of = allowed > failures ? ` of ${allowed - 1}` : '';
  const problem = event.text('message') || event.text('errorType');
  return `waits ${describeTime(event.number('delayMs'))} before retry ${failures}${of}: ${problem}`;
}

/** Number of failures that the line of a failed run has room for. */
const mostErrors = 3;

/** The code of a failure in parentheses; nothing if it has none of its own. */
const describeCode = (failure: EventFields): string => (failure.text('code') === 'unclassified' ? '' : ` (${failure.text('code')})`);

export const loopWords: Describers = {
  AgentExecutionStarted: (event) => {
    const version = event.inner('agent').text('version');
    const messages = pluralize(event.number('messageCount'), 'message');
    return `run ${event.has('resumed') ? 'resumed' : 'started'} with ${messages}${after(', version ', version)}`;
  },
  AgentStepStarted: (event) => {
    const messages = pluralize(event.number('messageCount'), 'message');
    return event.has('resumed') ? `a process ended in this step; resumed with ${messages}` : `started with ${messages}`;
  },
  ContinuationEvaluated: (event) => {
    if (event.inner('outcome').has('decision')) return describeOutcome(event);
    return 'decided; the step that has the decision could not be read';
  },
  AgentStateUpdated: (event) =>
    `${event.text('status').replace('in_progress', 'in progress')}, ${pluralize(event.number('stepCount'), 'step')} recorded`,
  AgentStepCompleted: describeStep,
  TokenUsageReported: (event) => `used ${describeUsage(event.inner('usage'))}`,
  RetryScheduled: describeRetry,
  AgentFailed: (event) => {
    const errors = event.list('errors').map((error) => `${describeFailure(error)}${describeCode(error)}`);
    const what = errors.length === 0 ? '' : `: ${listSome(errors, mostErrors, '; ')}`;
    const steps = pluralize(event.number('stepCount'), 'step');
    return `run failed after ${steps} (${event.text('stopReason') || 'error'}), decided by ${event.text('resolvedBy')}${what}`;
  },
  AgentFinished: describeEnd,
  ModelSkipped: (event) => {
    const failures = event.number('failures');
    const times = failures === 1 ? '' : ` ${pluralize(failures, 'time')} in a row`;
    return `skips ${event.text('model')} until ${describeInstant(event.number('until'))}: it failed${times}`;
  },
};
