import type { ContinuationCriterion } from '../continuation/index.ts';
import { AtLimit, ContinuationCriteria } from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { InvalidArgumentError, omitUndefined } from '../lib/index.ts';
import type { Limits } from '../step-by-step/index.ts';
import { standardCriteria } from '../step-by-step/index.ts';
import { withDefaultLimits } from '../tool-use/index.ts';
import { EveryoneHasSpoken } from './everyone-has-spoken.ts';
import type { TurnState } from './turn-state.ts';

/** Options that guards are made from. */
interface GuardOptions {
  readonly limits?: Limits;
  readonly errors?: ErrorPolicy;
  readonly finishReasons?: readonly string[];
}

const defaultLimits: Limits = { steps: 16, tokens: 4096, wallMs: Infinity };
const noLimits: Limits = { steps: Infinity, tokens: Infinity, wallMs: Infinity };
const defaultFinishReasons = ['length', 'content_filter'];

/** Options of the default criteria. */
export interface DefaultCriteriaOptions extends GuardOptions {
  /** Names of those who each have to speak before the conversation may end. */
  readonly participants: readonly string[];
}

/** Creates the criteria of a conversation that has none of its own: to add yours after them. */
export function defaultCriteria({ participants, ...options }: DefaultCriteriaOptions): readonly ContinuationCriterion<TurnState>[] {
  checkAtLimit(options.limits);
  return [...createGuards(options), new EveryoneHasSpoken(participants)];
}

const createGuards = ({ limits, errors, finishReasons }: GuardOptions): readonly ContinuationCriterion<TurnState>[] =>
  standardCriteria({
    limits: withDefaultLimits(defaultLimits, limits),
    policy: errors ?? ErrorPolicy.stopOnAnyError(),
    finishReasons: finishReasons ?? defaultFinishReasons,
  });

function checkAtLimit(limits: Limits | undefined): void {
  if (limits?.onLimit === AtLimit.Finalize)
    throw new InvalidArgumentError(
      "onLimit: 'finalize' is not available for chats: no single participant can write the summary. Use 'stop' or 'pause'.",
    );
}

/** Creates the criteria: the default ones, or the host's own in their place. */
export function toCriteria<State extends TurnState>(
  options: GuardOptions & { readonly criteria?: readonly ContinuationCriterion<State>[] },
  driver: ContinuationCriterion<State>,
): ContinuationCriteria<State> {
  const { limits, criteria } = options;
  checkAtLimit(limits);
  const all =
    criteria === undefined
      ? ContinuationCriteria.from<State>(...createGuards(options), driver)
      : ContinuationCriteria.from<State>(...createRequestedGuards(options), ...criteria);
  const twice = all.names.find((name, index) => all.names.indexOf(name) !== index);
  if (twice === undefined) return all;
  throw new InvalidArgumentError(`Two criteria are called "${twice}": the trace could not tell them apart. Give yours another name.`);
}

/** Creates only the guards that were asked for, to stand beside criteria of the host. */
function createRequestedGuards({ limits, errors, finishReasons }: GuardOptions): readonly ContinuationCriterion<TurnState>[] {
  const isRequested: Readonly<Record<string, boolean>> = {
    ErrorPolicyCriterion: errors !== undefined,
    PendingRetry: errors !== undefined,
    FinishReasonCheck: finishReasons !== undefined,
  };
  const options = omitUndefined({ limits: withDefaultLimits(noLimits, limits), policy: errors, finishReasons });
  const requested = standardCriteria(options).filter(({ name }) => isRequested[name] ?? true);
  // A request to stop is honoured in any case: alone, that criterion adds nothing.
  return requested.length > 1 ? requested : [];
}
