import type { ContinuationCriterion } from '../continuation/index.ts';
import { AtLimit, ContinuationCriteria } from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { InvalidArgumentError, omitUndefined } from '../lib/index.ts';
import type { Limits } from '../step-by-step/index.ts';
import { requestedCriteria, standardCriteria } from '../step-by-step/index.ts';
import { withDefaultLimits } from '../tool-use/index.ts';
import type { TurnState } from './turn-state.ts';

/** Options that the criteria are made from. */
interface CriteriaOptions<State> {
  readonly limits?: Limits;
  readonly errors?: ErrorPolicy;
  readonly finishReasons?: readonly string[];
  readonly criteria?: readonly ContinuationCriterion<State>[];
  readonly onlyCriteria?: readonly ContinuationCriterion<State>[];
}

const defaultLimits: Limits = { steps: 16, tokens: 500_000, wallMs: Infinity };
const defaultFinishReasons = ['length', 'content_filter'];

function checkAtLimit(limits: Limits | undefined): void {
  if (limits?.onLimit === AtLimit.Finalize)
    throw new InvalidArgumentError(
      "onLimit: 'finalize' is not available for chats: no single participant can write the summary. Use 'stop' or 'pause'.",
    );
}

/** Creates the criteria: the default ones, the driver and the host's own, or the host's own in place of all of them. */
export function toCriteria<State extends TurnState>(
  { limits, errors, finishReasons, criteria = [], onlyCriteria }: CriteriaOptions<State>,
  driver: ContinuationCriterion<State>,
): ContinuationCriteria<State> {
  checkAtLimit(limits);
  if (onlyCriteria !== undefined)
    return ContinuationCriteria.from<State>(
      ...requestedCriteria(omitUndefined({ limits, policy: errors, finishReasons })),
      ...onlyCriteria,
    );
  const guards = standardCriteria({
    limits: withDefaultLimits(defaultLimits, limits),
    policy: errors ?? ErrorPolicy.stopOnAnyError(),
    finishReasons: finishReasons ?? defaultFinishReasons,
  });
  return ContinuationCriteria.from<State>(...guards, driver, ...criteria);
}
