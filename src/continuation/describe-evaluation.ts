// One evaluation in words: the rule, its reason and its numbers.
import type { JsonObject } from '../lib/index.ts';
import { defaultRedactor, isRecord, pluralize, toShownText } from '../lib/index.ts';
import type { ContinuationEvaluation, LimitKind } from './continuation-evaluation.ts';

/** Number of facts of a rule that a line has room for. */
const mostFacts = 6;

/** Facts of a context that a reader does not need: the reason has them in words, or they are for programs. */
const innerFacts = new Set([
  ...['point', 'error', 'message', 'handling', 'cause', 'by', 'person', 'code', 'granted', 'grantedBy', 'errorType', 'stepType'],
  ...['hasToolCalls', 'hasErrors', 'hasResponse', 'shouldContinue', 'resolvedBy', 'criteriaCount'],
]);

const isShown = ([name, value]: readonly [string, unknown]): boolean =>
  !innerFacts.has(name) &&
  value !== null &&
  value !== '' &&
  typeof value !== 'boolean' &&
  !(isRecord(value) && Object.keys(value).length === 0);

const toFactText = (value: unknown): string => toShownText(typeof value === 'string' ? value : JSON.stringify(value));

const isBound = (name: string): boolean => /^(?:max|limit|budget|allowed|cap|quota|of$)/i.test(name);

/** True for the context of a built-in rule whose reason says it all. */
const isToldByReason = (context: JsonObject): boolean =>
  ['handling', 'stopReasons'].some((name) => name in context) ||
  ('participants' in context && 'silent' in context) ||
  ('approvals' in context && 'turns' in context);

/** Joins an amount and the bound after it: `spent 250 of 100`. */
function joinFacts(facts: readonly (readonly [string, unknown])[]): readonly string[] {
  return facts.flatMap(([name, value], index) => {
    const [, before] = facts[index - 1] ?? [];
    const after = facts[index + 1];
    const isPair = (amount: unknown, bound: unknown): boolean => typeof amount === 'number' && typeof bound === 'number';
    if (isBound(name) && isPair(before, value)) return [];
    const bound = after !== undefined && isBound(after[0]) && !isBound(name) && isPair(value, after[1]) ? ` of ${String(after[1])}` : '';
    return [`${toShownText(name)} ${toFactText(value)}${bound}`];
  });
}

/** Lists the facts of a rule whose reason has no numbers; empty if there are none. */
function describeFacts({ reason, context: given }: ContinuationEvaluation): string {
  if (/\d/.test(reason) || isToldByReason(given)) return '';
  const context = defaultRedactor.value(given);
  const facts = isRecord(context) ? Object.entries(context).filter(isShown) : [];
  const shown = joinFacts(facts.filter(([, value]) => !reason.includes(toFactText(value)))).slice(0, mostFacts);
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`;
}

/** True if the reason is the default one, which begins with the name of the rule. */
export const isDefaultReason = ({ criterion, reason }: ContinuationEvaluation): boolean => reason.startsWith(`${criterion} `);

/** Describes the reason of a rule with its numbers; its context if the reason has none. */
export const describeReason = (evaluation: ContinuationEvaluation): string =>
  `${toShownText(evaluation.reason)}${describeFacts(evaluation)}`;

/** Describes a rule by its name, its reason and its numbers. */
export function describeRule(evaluation: ContinuationEvaluation): string {
  const name = toShownText(evaluation.criterion);
  return isDefaultReason(evaluation) ? describeReason(evaluation) : `${name}: ${describeReason(evaluation)}`;
}

const limitNames: Readonly<Record<LimitKind, string>> = {
  steps: 'step limit',
  tokens: 'token limit',
  wall: 'time limit',
  active: 'active time limit',
  cost: 'cost limit',
};

/** Names of the two numbers that each limit compares, as its criterion writes them. */
const limitNumbers: Readonly<Record<LimitKind, readonly [used: string, limit: string, unit: string]>> = {
  steps: ['currentSteps', 'maxSteps', ''],
  tokens: ['currentUsage', 'maxTokens', ''],
  wall: ['elapsedSeconds', 'maxSeconds', ' s'],
  active: ['cumulativeSeconds', 'maxSeconds', ' s'],
  cost: ['currentUsd', 'maxUsd', ' US dollars'],
};

const limitKinds: readonly LimitKind[] = ['steps', 'tokens', 'wall', 'active', 'cost'];

/** Parts of an evaluation that describe a limit. */
type LimitFacts = Pick<ContinuationEvaluation, 'limit' | 'context' | 'reason'>;

const roundNumber = (value: number): number => Math.round(value * 10_000) / 10_000;

const roundTo = (value: number, kind: LimitKind): number => (kind === 'cost' ? roundNumber(value) : Math.round(value * 10) / 10);

/** Describes the two numbers of a limit: `4 of 20`; undefined if it is not one of the built-in limits. */
export function describeNumbers({ limit, context }: Omit<LimitFacts, 'reason'>): string | undefined {
  if (limit === undefined) return undefined;
  const [usedName, maxName, unit] = limitNumbers[limit];
  const [used, max, granted] = [context[usedName], context[maxName], context['granted']];
  if (typeof used !== 'number' || typeof max !== 'number') return undefined;
  const raised = typeof granted === 'number' && granted > 0 ? `: ${describeGrants({ max, granted, grantedBy: context['grantedBy'] })}` : '';
  return `${roundTo(used, limit)} of ${roundNumber(max)}${unit}${raised}`;
}

/** Describes a limit that was reached: `the step limit was reached (4 of 4)`. Undefined if it is not a limit. */
export function describeReachedLimit({ limit, context, reason }: LimitFacts): string | undefined {
  if (limit === undefined) return undefined;
  const numbers = describeNumbers({ limit, context });
  if (numbers === undefined) return `the ${limitNames[limit]} was reached (${toShownText(reason.replace(', limit reached', ''))})`;
  const unknown = context['unknownCalls'];
  const uncounted = typeof unknown === 'number' ? `; ${pluralize(unknown, 'call')} could not be counted` : '';
  return `the ${limitNames[limit]} was reached (${numbers}${uncounted})`;
}

/** Finds the limit whose two numbers a context has, as its criterion writes them. */
const findLimit = (context: JsonObject): LimitKind | undefined =>
  limitKinds.find((kind) => limitNumbers[kind].slice(0, 2).every((name) => typeof context[name] === 'number'));

/** The rule that ended a run, as the last event of the run has it. */
export interface EndingRule {
  readonly reason: string;
  readonly context: JsonObject;
  /** True if the run completed. */
  readonly isCompleted: boolean;
}

/** Describes the end of a run for a page: `the step limit was reached (4 of 4)`. */
export function describeEnding({ reason, context, isCompleted }: EndingRule): string {
  if (isCompleted && context['hasToolCalls'] === false) return 'the model answered and called no tools';
  const limit = isCompleted ? undefined : findLimit(context);
  return (limit && describeReachedLimit({ limit, context, reason })) ?? reason;
}

/** Numbers of a limit that was raised. */
export interface RaisedLimit {
  /** The limit with the grants on top of it. */
  readonly max: number;
  readonly granted: number;
  /** People who granted it, if known. */
  readonly grantedBy?: unknown;
}

/** Describes how a limit was raised: `2 at first, 3 granted by bob`. */
export function describeGrants({ max, granted, grantedBy }: RaisedLimit): string {
  const people: readonly unknown[] = Array.isArray(grantedBy) ? grantedBy : [];
  const by = people.length > 0 ? ` by ${people.map((name) => toShownText(String(name))).join(' and ')}` : '';
  return `${roundNumber(max - granted)} at first, ${roundNumber(granted)} granted${by}`;
}

/** Unit of each limit: `if the work needs more steps`. */
export const limitUnits: Readonly<Record<LimitKind, string>> = {
  steps: 'steps',
  tokens: 'tokens',
  wall: 'time',
  active: 'time',
  cost: 'money',
};

/** Returns what raises a limit: `limits.steps`. */
export const limitOptions: Readonly<Record<LimitKind, string>> = {
  steps: 'limits.steps',
  tokens: 'limits.tokens',
  wall: 'limits.wallMs',
  active: 'limits.activeMs',
  cost: 'limits.costUsd',
};
