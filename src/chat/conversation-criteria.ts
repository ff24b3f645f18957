import type { ContinuationCriterion } from '../continuation/index.ts';
import { AtLimit, ContinuationCriteria } from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import type { Limits } from '../step-by-step/index.ts';
import { standardCriteria } from '../step-by-step/index.ts';
import { EveryoneHasSpoken } from './everyone-has-spoken.ts';
import type { TurnState } from './turn-state.ts';

/** What the rules of a conversation are made from. */
interface GivenRules<State> {
  readonly limits?: Limits;
  readonly errors?: ErrorPolicy;
  readonly finishReasons?: readonly string[];
  readonly criteria?: readonly ContinuationCriterion<State>[];
}

const defaultLimits: Limits = { steps: 16, tokens: 4096, wallMs: Infinity };
const noLimits: Limits = { steps: Infinity, tokens: Infinity, wallMs: Infinity };
const defaultFinishReasons = ['length', 'content_filter'];

const given = (limits: Limits = {}): Limits => Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));

/** What the default rules are made from. */
export interface DefaultCriteriaOptions extends Omit<GivenRules<never>, 'criteria'> {
  /** Those of whom each has to speak before it may end. */
  readonly participants: readonly string[];
}

/** The rules of a conversation that has no rules of its own: to put your own behind them. */
export function defaultCriteria({ participants, ...rules }: DefaultCriteriaOptions): readonly ContinuationCriterion<TurnState>[] {
  return [...guards(rules), new EveryoneHasSpoken(participants)];
}

function guards({ limits, errors, finishReasons }: Omit<GivenRules<never>, 'criteria'>): readonly ContinuationCriterion<TurnState>[] {
  checkAtLimit(limits);
  return standardCriteria({
    limits: { ...defaultLimits, ...given(limits) },
    policy: errors ?? ErrorPolicy.stopOnAnyError(),
    finishReasons: finishReasons ?? defaultFinishReasons,
  });
}

function checkAtLimit(limits: Limits | undefined): void {
  if (limits?.onLimit === AtLimit.Finalize)
    throw new InvalidArgumentError(
      "onLimit: 'finalize' needs one who sums up, which a conversation of several has not; take 'stop' or 'pause'.",
    );
}

/** The rules: the default ones, or the host's own in their place. */
export function toCriteria<State extends TurnState>(
  { limits, errors, finishReasons, criteria }: GivenRules<State>,
  driver: ContinuationCriterion<State>,
): ContinuationCriteria<State> {
  checkAtLimit(limits);
  const rules = {
    ...(limits !== undefined && { limits }),
    ...(errors !== undefined && { errors }),
    ...(finishReasons !== undefined && { finishReasons }),
  };
  const all =
    criteria === undefined
      ? ContinuationCriteria.from<State>(...guards(rules), driver)
      : ContinuationCriteria.from<State>(...guardsGiven(rules), ...criteria);
  const twice = all.names.find((name, index) => all.names.indexOf(name) !== index);
  if (twice === undefined) return all;
  throw new InvalidArgumentError(`Two criteria are called "${twice}": the trace could not tell them apart. Give yours another name.`);
}

/** Those guards that were asked for by name, beside rules of the host's own. */
function guardsGiven({ limits, errors, finishReasons }: Omit<GivenRules<never>, 'criteria'>): readonly ContinuationCriterion<TurnState>[] {
  const isAsked: Readonly<Record<string, boolean>> = {
    ErrorPolicyCriterion: errors !== undefined,
    PendingRetry: errors !== undefined,
    FinishReasonCheck: finishReasons !== undefined,
  };
  const asked = standardCriteria({
    limits: { ...noLimits, ...given(limits) },
    ...(errors !== undefined && { policy: errors }),
    ...(finishReasons !== undefined && { finishReasons }),
  }).filter(({ name }) => isAsked[name] ?? true);
  // One who asks to stop is heard in any case: alone, that rule adds nothing.
  return asked.length > 1 ? asked : [];
}
