// The decision after a step, on one line: the rule that decided, its reason and its numbers.
import { describeLimit } from './phrases.ts';
import type { EventFields } from './event-fields.ts';

/** Number of facts of a rule that a line has room for. */
const mostFacts = 6;

/** Facts that explain nothing to a reader. */
const innerFacts = new Set(['point', 'error', 'message', 'handling', 'cause']);

/** Lists the facts of a rule whose reason gives no numbers. */
function describeFacts(evaluation: EventFields, reason: string): string {
  if (/\d/.test(reason)) return '';
  const context = evaluation.inner('context');
  const facts = context.names
    .filter((name) => !innerFacts.has(name) && context.has(name))
    .map((name) => [name, context.text(name) || context.json(name)] as const)
    .filter(([, value]) => !reason.includes(value));
  const shown = facts.slice(0, mostFacts).map(([name, value]) => `${name} ${value}`);
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`;
}

/** Describes one rule: its name, its reason and its numbers. */
function describeRule(evaluation: EventFields): string {
  const criterion = evaluation.text('criterion');
  const given = evaluation.text('reason').replace(/\.$/, '');
  // A default reason starts with the name of the criterion.
  const reason = given.startsWith(`${criterion} `) ? given.slice(criterion.length + 1) : given;
  const facts = evaluation.text('decision') === 'forbid' ? describeFacts(evaluation, reason) : '';
  return `${criterion}${reason === '' ? '' : `: ${reason}`}${facts}`;
}

const hasDecision = (decision: string) => (evaluation: EventFields) => evaluation.text('decision') === decision;

/** Finds what a failed step was judged by, if the rule that decided is another one. */
const findFailures = (evaluations: readonly EventFields[], decided: EventFields | undefined): readonly EventFields[] => {
  const hasFailed = (evaluation: EventFields): boolean => evaluation.inner('context').number('consecutiveFailures') > 0;
  return decided !== undefined && hasFailed(decided) ? [] : evaluations.filter(hasFailed).slice(0, 1);
};

/** Describes the decision of an outcome, the rule that made it, and the rules that forbade too. */
export function describeOutcome(outcome: EventFields): string {
  const [decision, resolvedBy] = [outcome.text('decision'), outcome.text('resolvedBy')];
  const evaluations = outcome.list('evaluations');
  const named = evaluations.filter((evaluation) => evaluation.text('criterion') === resolvedBy);
  const decided = named.find(hasDecision(decision)) ?? named[0];
  const forbidding = evaluations.filter(hasDecision('forbid'));
  const rule = decided === undefined ? `${resolvedBy}: no rule objected or asked for more` : describeRule(decided);
  if (outcome.has('shouldContinue')) {
    const sumsUp = evaluations.find((evaluation) => evaluation.text('atLimit') === 'finalize');
    if (sumsUp !== undefined) return `CONTINUE to sum up, ${describeRule(sumsUp)}`;
    return ['CONTINUE', [rule, ...findFailures(evaluations, decided).map(describeRule)].join('; ')].join(' ');
  }
  const others = forbidding.filter((evaluation) => evaluation !== decided).map((evaluation) => `; also ${describeRule(evaluation)}`);
  const reason = outcome.text('stopReason');
  const mayBeRaised = (evaluation: EventFields): boolean => evaluation.has('limit') && evaluation.text('atLimit') === 'pause';
  if (forbidding.length > 0 && forbidding.every(mayBeRaised)) {
    const limits = forbidding.map((evaluation) => describeLimit(evaluation.text('limit')));
    return `WAIT for more ${limits.join(' and ')} (${reason}) ${rule}${others.join('')}`;
  }
  return `STOP (${reason}) ${rule}${others.join('')}`;
}
