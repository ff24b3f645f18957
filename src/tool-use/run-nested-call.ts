// A call whose work is a run of its own.
// Owns:     what such a run is given, and the way back of what it waits for.
// Does not: know what kind of run it is.
// J1. A wait inside is a wait outside, under an id that leads back.
// J2. Every attempt at the same round of the same call draws the same ids.
import type { BaseEvent, EventHeader } from '../events/index.ts';
import type { Clock, IdSource, Json } from '../lib/index.ts';
import { assertNever, escapePart } from '../lib/index.ts';
import type { Answer, OuterStep, RunState, Spent, Wait } from '../step-by-step/index.ts';
import type { NestedCall, ToolExecution } from '../tools/index.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { CallResults } from './tool-use-step.ts';
import type { Work } from './work.ts';

/** Services and facts for a run inside a call. */
export interface NestedHost {
  readonly context: unknown;
  readonly toolCallId: string;
  /** The state of the outer run. */
  readonly state: ToolUseState;
  /** Pass it on as the run's `inside`. */
  readonly outer: OuterStep;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Memo of the run from when it last had to wait. */
  readonly memo?: Json | undefined;
  /** Answers given since, under the run's own ids. */
  readonly answers: readonly Answer[];
  /** Reports a problem that does not harm the run. */
  report(error: unknown, where: string): void;
  /** Emits an event in the name of the outer run. */
  emit(make: (header: EventHeader, orchestrator: string) => BaseEvent): void;
}

/** Result of a run inside a call: a value for the model, or somebody to wait for. */
export type NestedResult =
  { readonly type: 'ended'; readonly value: unknown } | { readonly type: 'waiting'; readonly waits: readonly Wait[]; readonly memo: Json };

/** Place and progress of a run inside a call. */
export interface NestedRound {
  /** The place of the call in its step. */
  readonly index: number;
  /** Spending of the outer step that its state does not show yet. */
  readonly own: Spent;
  readonly round: number;
  readonly memo?: Json;
  readonly answers: readonly Answer[];
}

/** Outcome of a round of such a call. */
export type NestedOutcome =
  { readonly type: 'ended'; readonly execution: ToolExecution } | { readonly type: 'waiting'; readonly results: CallResults };

/** The id under which a wait inside a call is known outside. */
export const toOuterId = (callId: string, id: string): string => `${escapePart(callId)}/${id}`;

/** Starts or resumes the run inside a call. Never rejects. */
export function runNestedCall(work: Work, call: NestedCall, at: NestedRound): Promise<NestedOutcome> {
  // Holds: a tool of this kind is made by defineNestedTool(), which puts startNestedCall() here.
  return call.tool.start(work, call, at) as Promise<NestedOutcome>;
}

/** Gives a run inside another the answers to its waits. */
export function withAnswers<State extends RunState>(waiting: State, answers: readonly Answer[]): State {
  return answers.reduce((state, answer) => {
    const by = answer.by === undefined ? {} : { by: answer.by };
    switch (answer.type) {
      case 'approved':
        return state.approve(answer.id, answer.args === undefined ? by : { args: answer.args, ...by });
      case 'rejected':
        return state.reject(answer.id, answer.reason, by);
      case 'answered':
        return state.answer(answer.id, answer.value, by);
      default:
        return assertNever(answer);
    }
  }, waiting);
}

/** Ends a run inside another at a limit that could be raised: limits are raised outside only. */
export function withoutGrants<State extends RunState>(state: State): State {
  const grant = state.waitingFor.find(({ type }) => type === 'grant');
  // Rejecting one rejects all.
  return grant === undefined ? state : state.reject(grant.id, 'nobody raises the limits of a run inside another');
}

/** Puts the name of the run that asks before a wait, as the outer run shows it. */
export const withAsker = (wait: Wait, name: string): Wait => ({
  ...wait,
  agent: wait.agent === undefined ? name : `${name}/${wait.agent}`,
});
