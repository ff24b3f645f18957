import type { ContinuationEvaluation, LimitKind } from '../continuation/index.ts';
import type { Json } from '../lib/index.ts';
import { assertNever, InvalidArgumentError, toCanonical } from '../lib/index.ts';
import { AlreadyAnsweredError } from './already-answered-error.ts';
import { NotWaitingError } from './not-waiting-error.ts';
import type { Step } from './step.ts';

interface CallWait<Type extends string> {
  readonly type: Type;
  /** The id of the tool call. */
  readonly id: string;
  readonly toolName: string;
  readonly args: Json;
  /** What was wrong with the last answer, where it could not be used. */
  readonly problem?: string;
  /** Who asks, where that is a run inside a call: its name, and the names of the runs around it before it. */
  readonly agent?: string;
}

/** Something that a person, or a program outside, has to settle before a step can end. */
export type Wait =
  /** A gated call: approve it, with other arguments if you like, or reject it. */
  | CallWait<'approval'>
  /** A call that somebody else carries out: answer with its output. */
  | CallWait<'client-tool'>
  /** A call that was cut off, and may or may not have happened: answer with its true result. */
  | CallWait<'unknown-call'>
  /** A person's words are wanted. */
  | {
      readonly type: 'person';
      readonly id: string;
      readonly prompt?: string;
      readonly problem?: string;
      readonly agent?: string;
      /** Whose words, where several take turns. */
      readonly participant?: string;
    }
  /** A limit was reached and may be raised. */
  | { readonly type: 'grant'; readonly id: string; readonly limit: LimitKind; readonly problem?: string; readonly agent?: string };

/** What was answered to a wait. */
export type Answer =
  | { readonly type: 'approved'; readonly id: string; readonly args?: Json }
  | { readonly type: 'rejected'; readonly id: string; readonly reason: string }
  | { readonly type: 'answered'; readonly id: string; readonly value: Json };

/** A step that has begun and cannot end yet. It is stored with its state, and entered again when somebody answered. */
export interface PendingStep<S extends Step = Step> {
  readonly number: number;
  /** What was produced so far. */
  readonly partial: S;
  readonly waits: readonly Wait[];
  readonly answers: readonly Answer[];
  /** Evaluations given so far; they are judged with the step. */
  readonly evaluations?: readonly ContinuationEvaluation[] | undefined;
  /** When those were asked for, by their ids, that were asked for before it was parked last. */
  readonly askedEarlier?: Readonly<Record<string, number>> | undefined;
  readonly startedAt: number;
  readonly parkedAt: number;
  /** Time at work so far; the waiting itself counts nowhere. */
  readonly activeMs: number;
  readonly waitedMs: number;
}

const answersTo = {
  approval: ['approved', 'rejected'],
  'client-tool': ['answered', 'rejected'],
  'unknown-call': ['answered', 'rejected'],
  person: ['answered'],
  grant: [],
} as const satisfies Record<Wait['type'], readonly Answer['type'][]>;

function wayToAnswer(wait: Wait): string {
  switch (wait.type) {
    case 'approval':
      return 'approve(id) or reject(id, reason)';
    case 'client-tool':
    case 'unknown-call':
      return 'answer(id, value) or reject(id, reason)';
    case 'person':
      return 'answer(id, value)';
    case 'grant':
      return 'grant(amounts)';
    default:
      return assertNever(wait);
  }
}

/** What is wrong with waits that could not be told apart, or that would wait for nothing. */
export function findWaitsProblem(waits: readonly Wait[]): string | undefined {
  if (waits.length === 0) return 'The step waits, but says for nothing. Hand in the whole step, or at least one wait.';
  const twice = waits.find(({ id }, index) => waits.findIndex((other) => other.id === id) !== index);
  return twice === undefined ? undefined : `Two waits have the id "${twice.id}": one answer would settle both. Give each its own.`;
}

/** What is still waited for. */
export const getOpenWaits = ({ waits, answers }: PendingStep): readonly Wait[] =>
  waits.filter(({ id }) => !answers.some((answer) => answer.id === id));

/** The pending step with one more answer. Refuses an answer to nothing, a second answer, and one of the wrong kind. */
export function withAnswer<S extends Step>(pending: PendingStep<S> | undefined, answer: Answer): PendingStep<S> {
  const wait = pending?.waits.find(({ id }) => id === answer.id);
  if (pending === undefined || wait === undefined)
    throw new NotWaitingError(answer.id, pending === undefined ? [] : getOpenWaits(pending).map(({ id }) => id));
  if (pending.answers.some(({ id }) => id === answer.id)) throw new AlreadyAnsweredError(answer.id);
  const fitting: readonly Answer['type'][] = answersTo[wait.type];
  if (!fitting.includes(answer.type)) {
    throw new InvalidArgumentError(`"${answer.id}" is a wait of type ${wait.type}; settle it with ${wayToAnswer(wait)}.`);
  }
  return { ...pending, answers: [...pending.answers, answer] };
}

/** A value that a person or program gave, in the form in which it is stored. */
export function parseValue(value: unknown, what: string): Json {
  const canonical = toCanonical(value);
  // A copy: what the giver does with the original later must not change a state.
  if (canonical.ok) return structuredClone(canonical.value);
  throw new InvalidArgumentError(`${what} cannot be stored: ${canonical.path === '' ? 'it' : canonical.path} ${canonical.problem}.`);
}
