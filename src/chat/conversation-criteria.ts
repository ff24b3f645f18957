import type { ContinuationCriterion } from '../continuation/index.ts';
import { AtLimit, ContinuationCriteria } from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import type { Limits } from '../step-by-step/index.ts';
import { standardCriteria } from '../step-by-step/index.ts';
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

/** The rules: the default ones, or the host's own in their place. */
export function criteriaOf<State extends TurnState>(
  { limits, errors, finishReasons, criteria }: GivenRules<State>,
  driver: ContinuationCriterion<State>,
): ContinuationCriteria<State> {
  if (limits?.onLimit === AtLimit.Finalize)
    throw new InvalidArgumentError(
      "onLimit: 'finalize' needs one who sums up, which a conversation of several has not; take 'stop' or 'pause'.",
    );
  if (criteria === undefined) {
    const standard = standardCriteria({
      limits: { ...defaultLimits, ...given(limits) },
      policy: errors ?? ErrorPolicy.stopOnAnyError(),
      finishReasons: finishReasons ?? defaultFinishReasons,
    });
    return ContinuationCriteria.from<State>(...standard, driver);
  }
  const left: Readonly<Record<string, boolean>> = {
    StopRequested: true,
    ErrorPolicyCriterion: errors !== undefined,
    PendingRetry: errors !== undefined,
    FinishReasonCheck: finishReasons !== undefined,
  };
  const standard = standardCriteria({
    limits: { ...noLimits, ...given(limits) },
    ...(errors !== undefined && { policy: errors }),
    ...(finishReasons !== undefined && { finishReasons }),
  }).filter(({ name }) => left[name] ?? true);
  const all = ContinuationCriteria.from<State>(...(standard.length > 1 ? standard : []), ...criteria);
  const twice = all.names.find((name, index) => all.names.indexOf(name) !== index);
  if (twice === undefined) return all;
  throw new InvalidArgumentError(`Two criteria are called "${twice}": the trace could not tell them apart. Give yours another name.`);
}
