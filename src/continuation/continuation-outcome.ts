import { classifyError } from '../errors/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { checkKeys, cleanText, DamagedDataError, describeValue, InvalidArgumentError, isRecord, readObject } from '../lib/index.ts';
import { ChangedEvaluations } from './changed-evaluations.ts';
import { ContinuationDecision, isContinuationDecision } from './continuation-decision.ts';
import type { LimitKind } from './continuation-evaluation.ts';
import { AtLimit, ContinuationEvaluation, findEvaluationProblem } from './continuation-evaluation.ts';
import { CriterionFailedError } from './criterion-failed-error.ts';
import type { ExplainOptions } from './explain-outcome.ts';
import { explainOutcome } from './explain-outcome.ts';
import { findDecisiveEvaluation } from './resolve-evaluations.ts';
import { EvaluationPattern } from './evaluation-pattern.ts';
import type { Resolution } from './resolve-evaluations.ts';
import { collection, resolveEvaluations } from './resolve-evaluations.ts';
import { isStopReason, StopReason } from './stop-reason.ts';

const { ForbidContinuation, RequestContinuation, AllowStop } = ContinuationDecision;

/** The parts of an outcome. `stopReason` is given if, and only if, the decision stops the run. */
export interface OutcomeFields {
  readonly decision: ContinuationDecision;
  /** @default whether the decision is to continue */
  readonly shouldContinue?: boolean | undefined;
  readonly resolvedBy: string;
  readonly stopReason?: StopReason | undefined;
  readonly evaluations: readonly ContinuationEvaluation[];
}

/** Finds parts that do not go together. */
function findContradiction({ decision, stopReason }: Resolution): string | undefined {
  const shouldContinue = decision === RequestContinuation;
  if (decision === ContinuationDecision.AllowContinuation) return 'an outcome decides request, forbid or stop, never allow';
  if (shouldContinue && stopReason !== undefined) return `a run that continues has no stop reason, but "${stopReason}" was given`;
  if (!shouldContinue && stopReason === undefined) return `decision "${decision}" ends the run, but there is no stop reason`;
  return stopReason === undefined || isStopReason(stopReason) ? undefined : `there is no stop reason ${describeValue(stopReason)}`;
}

/** Finds parts that do not follow from the evaluations. */
function findDeviation({ decision, resolvedBy, stopReason, evaluations }: OutcomeFields): string | undefined {
  if (evaluations.length === 0) return undefined;
  const resolved = resolveEvaluations(evaluations);
  if (decision !== resolved.decision) return `its evaluations add up to "${resolved.decision}", not to "${decision}"`;
  if (resolvedBy !== resolved.resolvedBy) return `its evaluations are resolved by ${resolved.resolvedBy}, not by ${resolvedBy}`;
  return stopReason === resolved.stopReason
    ? undefined
    : `its evaluations stop with "${resolved.stopReason ?? 'nothing'}", not with "${stopReason ?? 'nothing'}"`;
}

/** Throws if a list of evaluations has one that could not be stored and read again. */
function assertEvaluations(maker: string, evaluations: unknown): void {
  if (!Array.isArray(evaluations))
    throw new InvalidArgumentError(`${maker}: evaluations must be a list of evaluations, not ${describeValue(evaluations)}.`);
  for (const [index, evaluation] of evaluations.entries()) {
    const problem = findEvaluationProblem(evaluation);
    if (problem !== undefined) throw new InvalidArgumentError(`${maker}: evaluation ${index + 1}: ${problem}.`);
  }
}

const maker = 'new ContinuationOutcome()';

/** Throws if a part of an outcome is missing or not of its kind. */
function assertParts(fields: unknown): void {
  if (!isRecord(fields)) throw new InvalidArgumentError(`${maker} needs an object, not ${describeValue(fields)}.`);
  checkKeys(maker, fields, ['decision', 'shouldContinue', 'resolvedBy', 'stopReason', 'evaluations']);
  const { decision, shouldContinue, resolvedBy, evaluations } = fields;
  if (!isContinuationDecision(decision))
    throw new InvalidArgumentError(`${maker}: decision must be forbid, request or stop, not ${describeValue(decision)}.`);
  if (shouldContinue !== undefined && typeof shouldContinue !== 'boolean')
    throw new InvalidArgumentError(`${maker}: shouldContinue must be true or false, not ${describeValue(shouldContinue)}.`);
  if (typeof resolvedBy !== 'string' || resolvedBy === '')
    throw new InvalidArgumentError(`${maker}: resolvedBy must be the name of a criterion, not ${describeValue(resolvedBy)}.`);
  assertEvaluations(maker, evaluations);
}

/** Finds a boolean that does not go with the decision. */
const findWrongFlag = ({ decision, shouldContinue }: OutcomeFields): string | undefined =>
  shouldContinue === undefined || shouldContinue === (decision === RequestContinuation)
    ? undefined
    : `decision "${decision}" and shouldContinue ${String(shouldContinue)} do not go together`;

/** Copies the evaluations of an outcome. Throws if its other parts do not go with them. */
function copyEvaluations(fields: OutcomeFields): readonly ContinuationEvaluation[] {
  assertParts(fields);
  const contradiction = findContradiction(fields) ?? findWrongFlag(fields) ?? findDeviation(fields);
  if (contradiction !== undefined) throw new InvalidArgumentError(`This outcome contradicts itself: ${contradiction}.`);
  return Object.freeze([...fields.evaluations]);
}

const noLimits: readonly LimitKind[] = Object.freeze([]);
const noNumbers: readonly number[] = Object.freeze([]);

/** Source of the evaluations of an outcome: the list itself, or something that writes them when they are read. */
type EvaluationSource = readonly ContinuationEvaluation[] | EvaluationPattern | ChangedEvaluations;

class Outcome {
  // An own field, so that listing, copying and comparing include it. One getter for all, so that outcomes have one shape.
  static readonly #evaluationsField: PropertyDescriptor & ThisType<Outcome> = {
    enumerable: true,
    get() {
      return this.#write();
    },
  };

  readonly decision: ContinuationDecision;
  readonly shouldContinue: boolean;
  /** The criterion that decided; `aggregate` if all merely allowed. */
  readonly resolvedBy: string;
  /** Undefined if the run continues. */
  readonly stopReason: StopReason | undefined;
  /** One per criterion, in the order of the criteria, then those given before judging. */
  declare readonly evaluations: readonly ContinuationEvaluation[];
  readonly #source: EvaluationSource;
  /** Numbers of the limits that were not reached, if the source is a pattern. */
  readonly #numbers: readonly number[];
  #written: readonly ContinuationEvaluation[] | undefined;

  /** `source` is given for parts that were resolved from these evaluations just now, or when they were stored. */
  constructor(fields: OutcomeFields);
  constructor(resolution: Resolution, source: EvaluationSource, numbers?: readonly number[]);
  constructor(fields: Resolution | OutcomeFields, source?: EvaluationSource, numbers: readonly number[] = noNumbers) {
    // Holds: without a source, all fields are given.
    this.#source = source ?? copyEvaluations(fields as OutcomeFields);
    this.#numbers = numbers;
    this.decision = fields.decision;
    this.shouldContinue = fields.decision === RequestContinuation;
    this.resolvedBy = fields.resolvedBy;
    this.stopReason = fields.stopReason;
    this.#written = undefined;
    Object.defineProperty(this, 'evaluations', Outcome.#evaluationsField);
    Object.freeze(this);
  }

  /** Writes the evaluations, once. */
  #write(): readonly ContinuationEvaluation[] {
    const source = this.#source;
    if (source instanceof EvaluationPattern) return (this.#written ??= source.write(this.#numbers));
    return source instanceof ChangedEvaluations ? source.evaluations : source;
  }

  static findDecisive(outcome: Outcome): ContinuationEvaluation | undefined {
    const { decision, resolvedBy } = outcome;
    const evaluations = outcome.#source instanceof EvaluationPattern ? outcome.#source.decisive : outcome.evaluations;
    return findDecisiveEvaluation({ decision, resolvedBy, evaluations });
  }

  static getChanged(outcome: Outcome): ChangedEvaluations | undefined {
    return outcome.#source instanceof ChangedEvaluations ? outcome.#source : undefined;
  }

  /** Resolves evaluations by the truth table. */
  static fromEvaluations(evaluations: readonly ContinuationEvaluation[]): ContinuationOutcome {
    assertEvaluations('ContinuationOutcome.fromEvaluations()', evaluations);
    return createResolved(evaluations);
  }

  /** The outcome of having no criteria: stop. */
  static empty(): ContinuationOutcome {
    return Outcome.fromEvaluations([]);
  }

  /** The outcome if judging itself failed: stop with `error`, naming the criterion that threw. */
  static fromEvaluationError(error: unknown): ContinuationOutcome {
    const name = error instanceof Error ? cleanText(error.name) : typeof error;
    const { message } = classifyError(error);
    const criterion = error instanceof CriterionFailedError ? { criterion: error.criterion } : {};
    return Outcome.fromEvaluations([
      {
        criterion: collection,
        decision: ForbidContinuation,
        reason: `Evaluation failed: ${message}`,
        stopReason: StopReason.ErrorForbade,
        context: { ...criterion, error: name, message },
      },
    ]);
  }

  static fromJSON(input: unknown, path = 'outcome'): ContinuationOutcome {
    const data = readObject(input, path);
    const decision = data.oneOf('decision', Object.values(ContinuationDecision));
    const shouldContinue = data.boolean('shouldContinue');
    const fields = {
      decision,
      resolvedBy: data.string('resolvedBy'),
      stopReason: data.raw['stopReason'] === null ? undefined : data.oneOf('stopReason', Object.values(StopReason)),
      evaluations: data.array('evaluations', ContinuationEvaluation.fromJSON),
    };
    if (shouldContinue !== (decision === RequestContinuation))
      throw new DamagedDataError(path, `decision "${decision}" and shouldContinue ${String(shouldContinue)} contradict each other`);
    const contradiction = findContradiction(fields);
    if (contradiction !== undefined) throw new DamagedDataError(path, `its parts contradict each other: ${contradiction}`);
    return create(fields, Object.freeze(fields.evaluations));
  }

  get isForbidden(): boolean {
    return this.decision === ForbidContinuation;
  }

  /** The first evaluation of the criterion with this name. */
  getEvaluationFor(criterion: string): ContinuationEvaluation | undefined {
    return this.evaluations.find((evaluation) => evaluation.criterion === criterion);
  }

  /** The name of the first criterion that forbade. */
  getForbiddingCriterion(): string | undefined {
    return this.evaluations.find(({ decision }) => decision === ForbidContinuation)?.criterion;
  }

  /** True if limits forbade, nothing else did, and no criterion requested more. */
  get isOnlyLimited(): boolean {
    const objects = ({ decision, limit }: ContinuationEvaluation): boolean =>
      decision === RequestContinuation || (decision === ForbidContinuation && limit === undefined);
    return this.isForbidden && !this.evaluations.some(objects);
  }

  /** True if only limits forbade and the work was done anyway: nothing was requested, and a stop was allowed. */
  get finishedAtLimit(): boolean {
    return this.isOnlyLimited && this.evaluations.some(({ decision }) => decision === AllowStop);
  }

  /** True if a limit was reached and the next step sums up. */
  get isFinalizing(): boolean {
    if (!this.shouldContinue) return false;
    const source = this.#source;
    if (source instanceof EvaluationPattern) return source.isFinalizing;
    // Nothing is written for this: it is called for every step.
    const evaluations = source instanceof ChangedEvaluations ? source.decisive : source;
    return evaluations.some(({ atLimit }) => atLimit === AtLimit.Finalize);
  }

  /** Limits that wait for a grant; empty if anything else forbade too. */
  get awaitedGrants(): readonly LimitKind[] {
    if (!this.isForbidden) return noLimits;
    const forbidding = this.evaluations.filter(({ decision }) => decision === ForbidContinuation);
    const limits = forbidding.flatMap(({ limit, atLimit }) => (limit !== undefined && atLimit === AtLimit.Pause ? [limit] : []));
    return limits.length === forbidding.length ? limits : [];
  }

  /** Explains the outcome in a few lines: the decision, who made it with which numbers, and who disagreed. */
  explain(options: ExplainOptions = {}): string {
    return explainOutcome(this, options);
  }

  toJSON(): JsonObject & { readonly stopReason: StopReason | null; readonly resolvedBy: string } {
    return {
      decision: this.decision,
      shouldContinue: this.shouldContinue,
      resolvedBy: this.resolvedBy,
      stopReason: this.stopReason ?? null,
      evaluations: this.evaluations.map(ContinuationEvaluation.toJSON),
    };
  }
}

/** An outcome that lets the run continue. */
export interface ContinuingOutcome extends Outcome {
  readonly shouldContinue: true;
  readonly stopReason: undefined;
}

/** An outcome that ends the run. */
export interface StoppingOutcome extends Outcome {
  readonly shouldContinue: false;
  readonly stopReason: StopReason;
}

/** The decision to continue or stop, the criterion that made it, and every evaluation. */
export type ContinuationOutcome = ContinuingOutcome | StoppingOutcome;

interface OutcomeClass extends Omit<typeof Outcome, 'prototype' | 'getChanged' | 'findDecisive'> {
  readonly prototype: Outcome;
  /** Refuses parts that contradict each other. */
  new (fields: OutcomeFields): ContinuationOutcome;
}

const create = (resolution: Resolution, source: EvaluationSource, numbers?: readonly number[]): ContinuationOutcome =>
  // Holds, here and below: a continuing outcome has no stop reason, and a stopping one has.
  new Outcome(resolution, source, numbers) as ContinuationOutcome;

/** Returns the outcome of evaluations that are known to be well-formed. */
export const createResolved = (evaluations: readonly ContinuationEvaluation[]): ContinuationOutcome =>
  create(resolveEvaluations(evaluations), Object.freeze([...evaluations]));

/** Returns the outcome of a step, with the numbers of the limits that were not reached. Its evaluations are written when they are read. */
export const createJudged = (pattern: EvaluationPattern, numbers: readonly number[]): ContinuationOutcome =>
  create(pattern.resolution, pattern, numbers);

/** Returns an outcome whose evaluations are built when they are read; the other parts are what they add up to. */
export const createChanged = (resolution: Resolution, changed: ChangedEvaluations): ContinuationOutcome => create(resolution, changed);

/** Finds the evaluation that ended a run. Does not write the others, which may never be read. */
export const findEndingEvaluation = (outcome: ContinuationOutcome): ContinuationEvaluation | undefined => Outcome.findDecisive(outcome);

/** Returns the evaluations of an outcome that was stored as the changes of an earlier one; undefined for others. */
export const getChanged = (outcome: Outcome): ChangedEvaluations | undefined => Outcome.getChanged(outcome);

export const ContinuationOutcome: OutcomeClass = Outcome as OutcomeClass;
