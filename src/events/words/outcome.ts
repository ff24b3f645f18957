// The decision after a step, on one line: the rule that decided, its reason and its numbers, and what failed.
import { toLine } from '../../lib/index.ts';
import type { EventFields } from './event-fields.ts';
import { describeCauses, describeLimit } from './phrases.ts';

/** Number of facts of a rule that a line has room for. */
const mostFacts = 6;

/** Facts that explain nothing to a reader, or that a line words otherwise. */
const innerFacts = new Set(['point', 'error', 'message', 'handling', 'cause', 'by', 'person', 'stopReasons']);

/** End of a limit's reason that the start of the line says already. */
const atLimitNote = /; (?:waits for a grant|one more step to sum up)$/;

/** Rules whose wish to continue says only that the model has not finished. */
const plainWishes = new Set(['ToolCallPresenceCheck', 'PendingRetry']);

/** Lists the facts of a rule whose reason gives no numbers. */
function describeFacts(evaluation: EventFields, reason: string): string {
  if (/\d/.test(reason)) return '';
  const context = evaluation.inner('context');
  const facts = context.names
    .filter((name) => !innerFacts.has(name) && context.has(name))
    .map((name) => [toLine(name), context.fact(name)] as const)
    .filter(([, value]) => !reason.includes(value));
  const shown = facts.slice(0, mostFacts).map(([name, value]) => `${name} ${value}`);
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`;
}

const hasDecision = (decision: string) => (evaluation: EventFields) => evaluation.text('decision') === decision;

/** True for an evaluation of a failed step by an error policy. */
const isOfFailure = (evaluation: EventFields): boolean => evaluation.inner('context').number('consecutiveFailures') > 0;

/** Finds the failure that an error policy decided by. */
function findFailure(evaluation: EventFields, failures: readonly EventFields[]): EventFields | undefined {
  const context = evaluation.inner('context');
  const isSame = (name: string) => (failure: EventFields) => context.has(name) && failure.text(name) === context.text(name);
  return failures.find(isSame('toolCallId')) ?? failures.find(isSame('code')) ?? failures[0];
}

/** A decision, and the failures of the step that it is about. */
interface Decision {
  readonly stopReason: string;
  readonly evaluations: readonly EventFields[];
  /** Evaluation of the rule that decided; undefined if no rule did. */
  readonly decided: EventFields | undefined;
  readonly failures: readonly EventFields[];
}

/** Describes the facts behind a reason: the failure, the person who asked, or the numbers of the rule. */
function describeBackground(evaluation: EventFields, reason: string, failures: readonly EventFields[]): string {
  const failure = isOfFailure(evaluation) ? findFailure(evaluation, failures) : undefined;
  if (failure !== undefined) return `: ${describeCauses(failure)}`;
  const person = evaluation.inner('context').text('person');
  if (person !== '') return ` (asked by ${person})`;
  return evaluation.text('decision') === 'forbid' ? describeFacts(evaluation, reason) : '';
}

/** Describes one rule: its name, its reason and its numbers. */
function describeRule(evaluation: EventFields, failures: readonly EventFields[]): string {
  const criterion = evaluation.text('criterion');
  const given = evaluation.text('reason').replace(/\.$/, '').replace(atLimitNote, '');
  // A default reason starts with the name of the criterion.
  const reason = given.startsWith(`${criterion} `) ? given.slice(criterion.length + 1) : given;
  return `${criterion}${reason === '' ? '' : `: ${reason}`}${describeBackground(evaluation, reason, failures)}`;
}

function describeContinue({ evaluations, decided, failures }: Decision, rule: string): string {
  const sumsUp = evaluations.find((evaluation) => evaluation.text('atLimit') === 'finalize');
  if (sumsUp !== undefined) return `CONTINUE to sum up, ${describeRule(sumsUp, failures)}`;
  // A failed step goes on for a reason: the policy's.
  const policies = decided !== undefined && isOfFailure(decided) ? [] : evaluations.filter(isOfFailure).slice(0, 1);
  return `CONTINUE ${[rule, ...policies.map((policy) => describeRule(policy, failures))].join('; ')}`;
}

/** Describes what was left to do if limits end a run; empty if no rule says more than that the model has not finished. */
function describeRest(evaluations: readonly EventFields[]): string {
  const wish = evaluations.filter(hasDecision('request')).find((evaluation) => !plainWishes.has(evaluation.text('criterion')));
  return wish === undefined ? '' : `; left to do, ${describeRule(wish, [])}`;
}

const isLimit = (evaluation: EventFields): boolean => evaluation.has('limit');
const mayBeRaised = (evaluation: EventFields): boolean => isLimit(evaluation) && evaluation.text('atLimit') === 'pause';

function describeStop({ stopReason, evaluations, decided, failures }: Decision, rule: string): string {
  const forbidding = evaluations.filter(hasDecision('forbid'));
  const others = forbidding.filter((each) => each !== decided).map((each) => `; also ${describeRule(each, failures)}`);
  const isAtLimit = forbidding.length > 0 && forbidding.every(isLimit);
  const rest = isAtLimit ? describeRest(evaluations) : '';
  const reasons = `(${stopReason}) ${rule}${others.join('')}${rest}`;
  if (!isAtLimit || !forbidding.every(mayBeRaised)) return `STOP ${reasons}`;
  const limits = forbidding.map((evaluation) => describeLimit(evaluation.text('limit')));
  return `WAIT for a grant of more ${[...new Set(limits)].join(' and ')} ${reasons}`;
}

/** Describes a decision: the rule that made it with its reason and numbers, the rules that forbade too, and what failed. */
export function describeOutcome(event: EventFields): string {
  const [outcome, failures] = [event.inner('outcome'), event.list('errors')];
  const [decision, resolvedBy, stopReason] = [outcome.text('decision'), outcome.text('resolvedBy'), outcome.text('stopReason')];
  const evaluations = outcome.list('evaluations');
  const named = evaluations.filter((evaluation) => evaluation.text('criterion') === resolvedBy);
  const decided = named.find(hasDecision(decision)) ?? named[0];
  const rule = decided === undefined ? `${resolvedBy}: no rule objected or asked for more` : describeRule(decided, failures);
  return (outcome.has('shouldContinue') ? describeContinue : describeStop)({ stopReason, evaluations, decided, failures }, rule);
}
