import type { JsonObject } from '../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, isRecord, present, readObject } from '../lib/index.ts';
import { ContinuationDecision, isContinuationDecision } from './continuation-decision.ts';
import { isStopReason, StopReason } from './stop-reason.ts';

/** The budget that a limit watches. Limits can be raised by a grant; other guards cannot. */
export const LimitKind = { Steps: 'steps', Tokens: 'tokens', Wall: 'wall', Active: 'active', Cost: 'cost' } as const;
export type LimitKind = (typeof LimitKind)[keyof typeof LimitKind];

/** Action at a limit: end the run, sum up in one more step, or wait until somebody grants more. */
export const AtLimit = { Stop: 'stop', Finalize: 'finalize', Pause: 'pause' } as const;
export type AtLimit = (typeof AtLimit)[keyof typeof AtLimit];

/** Stop reasons by the kind of limit that was reached. */
export const limitStopReasons: Readonly<Record<LimitKind, StopReason>> = {
  steps: StopReason.StepsLimitReached,
  tokens: StopReason.TokenLimitReached,
  wall: StopReason.TimeLimitReached,
  active: StopReason.TimeLimitReached,
  cost: StopReason.GuardForbade,
};

interface EvaluationFields {
  readonly criterion: string;
  readonly decision: ContinuationDecision;
  /** @default a sentence made from criterion and decision */
  readonly reason?: string | undefined;
  readonly stopReason?: StopReason | undefined;
  readonly limit?: LimitKind | undefined;
  readonly atLimit?: Exclude<AtLimit, 'stop'> | undefined;
  /** @default {} */
  readonly context?: JsonObject | undefined;
}

const emptyContext: JsonObject = Object.freeze({});

const defaultReasons: Readonly<Record<ContinuationDecision, string>> = {
  forbid: 'forbade continuation',
  request: 'requested continuation',
  allow: 'permits continuation',
  stop: 'allows stop',
};

const limitKinds: ReadonlySet<unknown> = new Set([undefined, ...Object.values(LimitKind)]);
const limitActions: ReadonlySet<unknown> = new Set([undefined, AtLimit.Finalize, AtLimit.Pause]);

/** Finds what is wrong with the fields of an evaluation. */
function findProblem(fields: Readonly<Record<string, unknown>>): string | undefined {
  const { criterion, decision, reason, stopReason, limit, atLimit, context } = fields;
  if (typeof criterion !== 'string' || criterion === '')
    return `criterion must be the name of a criterion, not ${describeValue(criterion)}`;
  if (!isContinuationDecision(decision)) return `decision must be forbid, allow, request or stop, not ${describeValue(decision)}`;
  if (reason !== undefined && typeof reason !== 'string') return `reason must be a string, not ${describeValue(reason)}`;
  if (stopReason !== undefined && !isStopReason(stopReason))
    return `stopReason must be one of ${Object.values(StopReason).join(', ')}, not ${describeValue(stopReason)}`;
  if (!limitKinds.has(limit)) return `limit must be one of ${Object.values(LimitKind).join(', ')}, not ${describeValue(limit)}`;
  if (!limitActions.has(atLimit)) return `atLimit must be finalize or pause, not ${describeValue(atLimit)}`;
  return context === undefined || isRecord(context) ? undefined : `context must be an object, not ${describeValue(context)}`;
}

/** Finds what is wrong with an evaluation that was given as a whole; undefined if it can be stored and read again. */
export function findEvaluationProblem(given: unknown): string | undefined {
  if (!isRecord(given)) return `an evaluation must be an object, not ${describeValue(given)}`;
  if (typeof given['reason'] !== 'string') return `reason must be a string, not ${describeValue(given['reason'])}`;
  return isRecord(given['context']) ? findProblem(given) : `context must be an object, not ${describeValue(given['context'])}`;
}

const knownFields = {
  known: ['criterion', 'decision', 'reason', 'stopReason', 'limit', 'atLimit', 'context'],
  hints: { criterionClass: 'Use "criterion": the name of the criterion.' },
};

function assertFields(fields: unknown): void {
  const maker = 'new ContinuationEvaluation()';
  if (!isRecord(fields)) throw new InvalidArgumentError(`${maker} needs an object, not ${describeValue(fields)}.`);
  checkKeys(maker, fields, knownFields);
  const problem = findProblem(fields);
  if (problem !== undefined) throw new InvalidArgumentError(`${maker}: ${problem}.`);
}

/** Creates an evaluation of fields that are known to be right, or checked later. */
export function createEvaluation(fields: EvaluationFields): ContinuationEvaluation {
  const { criterion, decision, reason, stopReason, limit, atLimit, context = emptyContext } = fields;
  return Object.freeze({
    criterion,
    decision,
    reason: reason ?? `${criterion} ${defaultReasons[decision]}`,
    ...(stopReason !== undefined && { stopReason }),
    ...(limit !== undefined && { limit }),
    ...(atLimit !== undefined && { atLimit }),
    // A copy: the caller may continue using its own. What is not an object is refused when it is judged.
    context: Object.isFrozen(context) || !isRecord(context) ? context : Object.freeze({ ...context }),
  });
}

/** One criterion's decision, its reason and its numbers. Plain data: `new` makes a plain object that never changes, and one written by hand will do as well. */
export class ContinuationEvaluation {
  declare readonly criterion: string;
  declare readonly decision: ContinuationDecision;
  declare readonly reason: string;
  /** Set if the decision forbids; a forbid without one counts as `guard`. */
  declare readonly stopReason?: StopReason;
  /** Set by limits: reaching one in the last step is not the same as being cut short by it. */
  declare readonly limit?: LimitKind;
  /** Set by a limit that was reached and does not simply stop the run. */
  declare readonly atLimit?: Exclude<AtLimit, 'stop'>;
  declare readonly context: JsonObject;

  /** Refuses fields that could not be stored and read again. */
  constructor(fields: EvaluationFields) {
    assertFields(fields);
    return createEvaluation(fields);
  }

  /** An evaluation for a criterion that gives a bare decision. */
  static fromDecision(criterion: string, decision: ContinuationDecision, stopReason?: StopReason): ContinuationEvaluation {
    return new ContinuationEvaluation({ criterion, decision, stopReason });
  }

  /** Reads a stored evaluation; refuses one whose decision is missing or unknown. */
  static fromJSON(input: unknown, path: string = 'evaluation'): ContinuationEvaluation {
    const data = readObject(input, path);
    return createEvaluation({
      criterion: data.string('criterion'),
      decision: data.oneOf('decision', Object.values(ContinuationDecision)),
      reason: data.string('reason'),
      stopReason: data.optionalOneOf('stopReason', Object.values(StopReason)),
      limit: data.optionalOneOf('limit', Object.values(LimitKind)),
      atLimit: data.optionalOneOf('atLimit', [AtLimit.Finalize, AtLimit.Pause]),
      context: data.optionalJsonObject('context'),
    });
  }

  /** The evaluation as plain JSON, for any object that has its fields. */
  static toJSON({ criterion, decision, reason, stopReason, limit, atLimit, context }: ContinuationEvaluation): JsonObject {
    return present({ criterion, decision, reason, stopReason, limit, atLimit, context });
  }
}
