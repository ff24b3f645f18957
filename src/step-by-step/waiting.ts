import type { ContinuationEvaluation, LimitKind } from '../continuation/index.ts';
import type { Json } from '../lib/index.ts';
import { assertNever, InvalidArgumentError, jsonCopy, toCanonical } from '../lib/index.ts';
import type { ApprovalScope } from '../tools/index.ts';
import { AlreadyAnsweredError } from './already-answered-error.ts';
import { NotWaitingError } from './not-waiting-error.ts';
import type { Step } from './step.ts';

interface ToolCallWait<Type extends string> {
  readonly type: Type;
  /** The id of the tool call. */
  readonly id: string;
  readonly toolName: string;
  readonly args: Json;
  /** Problem with the last answer, if it could not be used. */
  readonly problem?: string;
  /** Path of the nested run that asks, outermost name first. Absent if the run itself asks. */
  readonly agent?: string;
  /** The `fingerprint` of the tool when it was called, if it has one. */
  readonly fingerprint?: string;
}

interface PersonWait {
  readonly type: 'person';
  readonly id: string;
  readonly prompt?: string;
  readonly problem?: string;
  readonly agent?: string;
  /** Participant who is asked, if several take turns. */
  readonly participant?: string;
}

/** A provider that is down: the step is taken again at `nextTryAt`. Times are milliseconds since the epoch. */
export interface ProviderWait {
  readonly type: 'provider';
  readonly id: string;
  /** Message of the last failure. */
  readonly reason: string;
  /** Time of the first failure. */
  readonly since: number;
  /** Number of times that the step has waited since then. */
  readonly tries: number;
  readonly nextTryAt: number;
  /** Time of the last try: if that fails, the run fails. */
  readonly giveUpAt: number;
  readonly problem?: string;
  readonly agent?: string;
}

/** Something that a person or an outside program has to answer before a step can end, or that a provider is back. */
export type Wait =
  /** A gated call: approve it, optionally with other arguments, or reject it. */
  | (ToolCallWait<'approval'> & {
      /** Reason that the tool's rule gave for asking, if it gave one. */
      readonly reason?: string;
      /** Range of an approval for the rest of the session, if the tool allows that. */
      readonly approvalScope?: ApprovalScope;
    })
  /** A call that runs outside: answer with its output. */
  | ToolCallWait<'client-tool'>
  /** An interrupted call that may or may not have taken effect: answer with its true result. */
  | ToolCallWait<'unknown-call'>
  /** Input from a person. */
  | (PersonWait & { readonly reason?: never })
  /** A step that ended the process each time it was resumed: somebody has to resume the session, or cancel it. */
  | (PersonWait & {
      readonly reason: 'crash-loop';
      /** Number of times that the step was resumed. */
      readonly attempts: number;
      /** Time at which it was given up. Milliseconds since the epoch. */
      readonly since: number;
    })
  | ProviderWait
  /** A limit that was reached and may be raised. */
  | { readonly type: 'grant'; readonly id: string; readonly limit: LimitKind; readonly problem?: string; readonly agent?: string };

/** Answer to a wait. `id` is that of the wait; `by` names the person who answered, if known. */
export type Answer =
  | { readonly type: 'approved'; readonly id: string; readonly args?: Json; readonly by?: string }
  | { readonly type: 'rejected'; readonly id: string; readonly reason: string; readonly by?: string }
  | { readonly type: 'answered'; readonly id: string; readonly value: Json; readonly by?: string };

/** A step that has started and cannot end yet. It is stored with its state and resumed after an answer. */
export interface PendingStep<S extends Step = Step> {
  readonly number: number;
  /** Output produced so far. */
  readonly partial: S;
  readonly waits: readonly Wait[];
  readonly answers: readonly Answer[];
  /** Evaluations collected so far; they are judged with the step. */
  readonly evaluations?: readonly ContinuationEvaluation[] | undefined;
  /** First time each wait was asked for, by id, if it was parked before. */
  readonly askedEarlier?: Readonly<Record<string, number>> | undefined;
  readonly startedAt: number;
  readonly parkedAt: number;
  /** Time spent working so far; time spent parked does not count. */
  readonly activeMs: number;
  readonly waitedMs: number;
}

const answersTo = {
  approval: ['approved', 'rejected'],
  'client-tool': ['answered', 'rejected'],
  'unknown-call': ['answered', 'rejected'],
  person: ['answered'],
  provider: [],
  grant: [],
} as const satisfies Record<Wait['type'], readonly Answer['type'][]>;

function describeAnswering(wait: Wait): string {
  switch (wait.type) {
    case 'approval':
      return 'approve(id) or reject(id, reason)';
    case 'client-tool':
    case 'unknown-call':
      return 'answer(id, value) or reject(id, reason)';
    case 'person':
      return 'answer(id, value)';
    case 'provider':
      return 'retryNow()';
    case 'grant':
      return 'grant(amounts)';
    default:
      return assertNever(wait);
  }
}

/** Returns the problem with a list of waits: empty, or with duplicate ids. */
export function findWaitsProblem(waits: readonly Wait[]): string | undefined {
  if (waits.length === 0) return 'produce() returned a waiting step without waits. Return at least one wait, or the whole step.';
  const twice = waits.find(({ id }, index) => waits.findIndex((other) => other.id === id) !== index);
  return twice === undefined ? undefined : `Two waits have the id "${twice.id}". Give each its own id.`;
}

/** Returns the waits without an answer. */
export const getOpenWaits = ({ waits, answers }: PendingStep): readonly Wait[] =>
  waits.filter(({ id }) => !answers.some((answer) => answer.id === id));

/** Adds an answer to the pending step. Throws for an unknown id, a second answer, or the wrong kind of answer. */
export function withAnswer<S extends Step>(pending: PendingStep<S> | undefined, answer: Answer): PendingStep<S> {
  const wait = pending?.waits.find(({ id }) => id === answer.id);
  if (pending === undefined || wait === undefined)
    throw new NotWaitingError(answer.id, pending === undefined ? [] : getOpenWaits(pending).map(({ id }) => id));
  if (pending.answers.some(({ id }) => id === answer.id)) throw new AlreadyAnsweredError(answer.id);
  const fitting: readonly Answer['type'][] = answersTo[wait.type];
  if (!fitting.includes(answer.type)) {
    throw new InvalidArgumentError(`"${answer.id}" is a wait of type ${wait.type}. Answer it with ${describeAnswering(wait)}.`);
  }
  return { ...pending, answers: [...pending.answers, answer] };
}

/** Converts a value from outside to its stored form. Throws if it cannot be stored. */
export function parseValue(value: unknown, what: string): Json {
  const canonical = toCanonical(value);
  // A copy: later changes to the original must not change the state.
  if (canonical.ok) return jsonCopy(canonical.value);
  throw new InvalidArgumentError(
    `${what} cannot be stored: ${canonical.path === '' ? 'it' : canonical.path} ${canonical.problem}. Pass plain JSON data.`,
  );
}
