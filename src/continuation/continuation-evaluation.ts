import type { JsonObject } from '../lib/index.ts';
import { assertNever, readObject } from '../lib/index.ts';
import { ContinuationDecision } from './continuation-decision.ts';
import { StopReason } from './stop-reason.ts';

/** Which budget a limit watches. Limits can be granted more; other guards cannot. */
export const LimitKind = { Steps: 'steps', Tokens: 'tokens', Wall: 'wall', Active: 'active', Cost: 'cost' } as const;
export type LimitKind = (typeof LimitKind)[keyof typeof LimitKind];

const limitReasons: Readonly<Record<LimitKind, StopReason>> = {
  steps: StopReason.StepsLimitReached,
  tokens: StopReason.TokenLimitReached,
  wall: StopReason.TimeLimitReached,
  active: StopReason.TimeLimitReached,
  cost: StopReason.GuardForbade,
};

/** Why a run ends that a limit of this kind ended. */
export const stopReasonOfLimit = (limit: LimitKind): StopReason => limitReasons[limit];

/** What one criterion answered, why, and with which numbers. */
export interface ContinuationEvaluation {
  readonly criterion: string;
  readonly decision: ContinuationDecision;
  readonly reason: string;
  /** Set by whoever forbids; a forbid without one counts as `guard`. */
  readonly stopReason?: StopReason;
  /** Set by limits, so that reaching one in the last step is told apart from being cut short by it. */
  readonly limit?: LimitKind;
  readonly context: JsonObject;
}

const emptyContext: JsonObject = Object.freeze({});

function defaultReason(criterion: string, decision: ContinuationDecision): string {
  switch (decision) {
    case ContinuationDecision.ForbidContinuation:
      return `${criterion} forbade continuation`;
    case ContinuationDecision.RequestContinuation:
      return `${criterion} requested continuation`;
    case ContinuationDecision.AllowContinuation:
      return `${criterion} permits continuation`;
    case ContinuationDecision.AllowStop:
      return `${criterion} allows stop`;
    default:
      return assertNever(decision);
  }
}

export const ContinuationEvaluation = {
  /** An evaluation for a criterion that gives a bare decision. */
  fromDecision: (criterion: string, decision: ContinuationDecision, stopReason?: StopReason): ContinuationEvaluation => ({
    criterion,
    decision,
    reason: defaultReason(criterion, decision),
    ...(stopReason !== undefined && { stopReason }),
    context: emptyContext,
  }),

  /** Reads a stored evaluation; refuses one whose decision is missing or unknown. */
  fromJSON: (input: unknown, path: string = 'evaluation'): ContinuationEvaluation => {
    const data = readObject(input, path);
    const stopReason = data.optionalOneOf('stopReason', Object.values(StopReason));
    const limit = data.optionalOneOf('limit', Object.values(LimitKind));
    return {
      criterion: data.string('criterion'),
      decision: data.oneOf('decision', Object.values(ContinuationDecision)),
      reason: data.string('reason'),
      ...(stopReason !== undefined && { stopReason }),
      ...(limit !== undefined && { limit }),
      context: data.optionalJsonObject('context') ?? emptyContext,
    };
  },
} as const;
