import type { CanExplainContinuation, ContinuationCriterion, Findings, LimitOptions } from '../continuation/index.ts';
import {
  AtLimit,
  CostLimit,
  CumulativeExecutionTimeLimit,
  ErrorPolicyCriterion,
  ExecutionTimeLimit,
  Finalize,
  FinishReasonCheck,
  PendingRetry,
  StepsLimit,
  StopRequested,
  TokenUsageLimit,
} from '../continuation/index.ts';
import { AgentErrorContextResolver, ErrorPolicy } from '../errors/index.ts';
import type { Grant } from './grant.ts';
import { listGranters, sumGrants } from './grant.ts';
import type { RunState } from './run-state.ts';
import { checkKeys, describeValue, InvalidArgumentError } from '../lib/index.ts';

/** Limits of one execution. `Infinity` removes a limit. Defaults depend on the orchestrator. */
export interface Limits {
  /** Steps that one input may take: each is one request to the model, with the calls that it asks for. @default 20 (`ToolUse` 3, chats 16) */
  readonly steps?: number;
  /** Tokens that the requests and answers of one input may use together. @default 500,000 (`AgentBuilder` 32,768, `ToolUse` 8,192) */
  readonly tokens?: number;
  /** Milliseconds on the wall clock; starts fresh with each input and each resume. @default 300,000 (`ToolUse` 30,000, chats no limit) */
  readonly wallMs?: number;
  /** Milliseconds spent in steps; continues after a pause. @default no limit */
  readonly activeMs?: number;
  /** Maximum cost in US dollars, as far as prices are known; needs `price`. @default no limit */
  readonly costUsd?: number;
  /**
   * Action when a limit is reached with work left: the run ends, or takes one more step to sum up, in which calls are refused,
   * or waits until somebody grants more. @default 'stop'
   */
  readonly onLimit?: AtLimit;
  /** Milliseconds that the step that sums up may take. @default 30,000 */
  readonly finalizeMs?: number;
}

/** Options of the standard criteria. */
export interface StandardCriteriaOptions {
  /** Budgets of one execution. @default 20 steps, 32,768 tokens, and 300 seconds on the wall clock unless `activeMs` is given */
  readonly limits?: Limits;
  /** @default ErrorPolicy.stopOnAnyError() */
  readonly policy?: ErrorPolicy;
  /** Finish reasons that end the run. @default [] */
  readonly finishReasons?: readonly string[];
}

// Summing up and waiting make sense only if work is left.
const atLimit: Readonly<Record<AtLimit, (state: RunState, findings: Findings) => AtLimit>> = {
  stop: () => AtLimit.Stop,
  finalize: ({ execution }, { workLeft }) =>
    workLeft === true && execution.judgedStep?.finalizing !== true ? AtLimit.Finalize : AtLimit.Stop,
  pause: (_state, { workLeft }) => (workLeft === true ? AtLimit.Pause : AtLimit.Stop),
};

// The step that sums up comes on top of the limit.
const stepsAgainstLimit = ({ stepCount, execution }: RunState): number =>
  execution.judgedStep?.finalizing === true ? stepCount - 1 : stepCount;

function limitCriteria(limits: Limits): readonly CanExplainContinuation<RunState>[] {
  const { steps = 20, tokens = 32_768, activeMs = Infinity, costUsd = Infinity, onLimit = AtLimit.Stop } = limits;
  const wallMs = limits.wallMs ?? (limits.activeMs === undefined ? 300_000 : Infinity);
  const options = (budget: keyof Grant, unit = 1): LimitOptions<RunState> => ({
    granted: ({ execution }) => (execution.grants === undefined ? 0 : sumGrants(execution.grants, budget) / unit),
    grantedBy: ({ execution }) => listGranters(execution.grants, budget),
    ...(onLimit !== AtLimit.Stop && { onLimit: atLimit[onLimit] }),
  });
  const wallStartedAt = ({ execution }: RunState): number | undefined => execution.wallStartedAt;
  return [
    ...(steps === Infinity ? [] : [new StepsLimit<RunState>(steps, stepsAgainstLimit, options('steps'))]),
    ...(tokens === Infinity ? [] : [new TokenUsageLimit<RunState>(tokens, ({ usage }) => usage, options('tokens'))]),
    ...(wallMs === Infinity ? [] : [new ExecutionTimeLimit<RunState>(wallMs / 1000, wallStartedAt, options('wallMs', 1000))]),
    ...(activeMs === Infinity
      ? []
      : [
          new CumulativeExecutionTimeLimit<RunState>(
            activeMs / 1000,
            ({ execution }) => execution.activeMs / 1000,
            options('activeMs', 1000),
          ),
        ]),
    ...(costUsd === Infinity ? [] : [new CostLimit<RunState>(costUsd, ({ cost }) => cost, options('costUsd'))]),
  ];
}

const budgetNames = ['steps', 'tokens', 'wallMs', 'activeMs', 'costUsd'] as const;
const knownLimits = [...budgetNames, 'onLimit', 'finalizeMs'];

// A misspelt limit would not limit anything.
function checkLimits(limits: Limits): void {
  checkKeys('limits', limits, knownLimits);
  for (const name of budgetNames) {
    const limit: unknown = limits[name];
    const least = name.endsWith('Ms') ? 'above 0' : 'of 0 or more';
    const fits = limit === undefined || (typeof limit === 'number' && (name.endsWith('Ms') ? limit > 0 : limit >= 0));
    if (!fits) throw new InvalidArgumentError(`limits.${name} must be a number ${least}, or Infinity, not ${describeValue(limit)}.`);
  }
  if (limits.onLimit !== undefined && !Object.hasOwn(atLimit, limits.onLimit))
    throw new InvalidArgumentError(
      `limits.onLimit must be one of ${Object.keys(atLimit).join(', ')}, not ${describeValue(limits.onLimit)}.`,
    );
  const { finalizeMs } = limits;
  if (finalizeMs !== undefined && !(Number.isFinite(finalizeMs) && finalizeMs > 0))
    throw new InvalidArgumentError(`limits.finalizeMs must be a number above 0, not ${describeValue(finalizeMs)}.`);
}

function createCriteria({ limits = {}, policy, finishReasons }: StandardCriteriaOptions): readonly ContinuationCriterion<RunState>[] {
  const resolver = new AgentErrorContextResolver();
  checkLimits(limits);
  const budgets = limitCriteria(limits);
  return [
    new StopRequested<RunState>(),
    ...(policy === undefined ? [] : [new ErrorPolicyCriterion<RunState>(policy, resolver)]),
    ...budgets,
    ...(finishReasons === undefined
      ? []
      : [new FinishReasonCheck<RunState>(finishReasons, ({ currentStep }) => currentStep?.finishReason)]),
    ...(policy === undefined ? [] : [new PendingRetry<RunState>(policy, resolver)]),
    ...(limits.onLimit === AtLimit.Finalize ? [new Finalize<RunState>(budgets)] : []),
  ];
}

/**
 * The guards that every orchestrator starts from, and the retry driver. The order decides which one is named if several forbid:
 * a person first, then failures, then limits. Add a work driver, or the run continues until a guard ends it.
 */
export function standardCriteria({
  limits = {},
  policy = ErrorPolicy.stopOnAnyError(),
  finishReasons = [],
}: StandardCriteriaOptions = {}): readonly ContinuationCriterion<RunState>[] {
  return createCriteria({ limits, policy, finishReasons });
}

const noLimits: Limits = { steps: Infinity, tokens: Infinity, wallMs: Infinity };

/** The standard criteria that were asked for, without any defaults: for criteria of the host's own that replace those. */
export function requestedCriteria({ limits = {}, ...options }: StandardCriteriaOptions): readonly ContinuationCriterion<RunState>[] {
  const given = Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
  const requested = createCriteria({ ...options, limits: { ...noLimits, ...given } });
  // A request to stop is honoured in any case: alone, that criterion adds nothing.
  return requested.length > 1 ? requested : [];
}
