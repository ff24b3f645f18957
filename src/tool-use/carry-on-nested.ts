// A call whose work is a run of its own.
// Owns:     what such a run is given, and the way back of what it waits for.
// Does not: know what kind of run it is.
// J1. What is waited for inside is waited for outside, under an id that leads back.
// J2. Every attempt at the same round of the same call draws the same ids.
import { classifyError } from '../errors/index.ts';
import type { BaseEvent, EventHeader } from '../events/index.ts';
import { reportSafely, reportToConsole } from '../events/index.ts';
import type { Clock, IdSource, Json } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { Answer, OuterStep, Spent, Wait } from '../step-by-step/index.ts';
import type { NestedCall, NestedOutcome, NestedWaiting, ToolExecution } from '../tools/index.ts';
import { answeredExecution, cancelledExecution, failedExecution, unknownExecution } from '../tools/index.ts';
import { givenUp } from './closed-step.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { NestedMemo } from './tool-use-step.ts';
import type { Work } from './work.ts';

/** What a run inside a call works with. */
export interface NestedHost<Context = unknown> {
  readonly context: Context;
  readonly toolCallId: string;
  /** The state of the run around it. */
  readonly state: ToolUseState;
  /** Pass it on as the run's `inside`. */
  readonly outer: OuterStep;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** What it left when it last had to wait. */
  readonly memo?: Json | undefined;
  /** What was answered since, under its own ids. */
  readonly answers: readonly Answer[];
  /** Reports what went wrong without harm to the run. */
  report(error: unknown, where: string): void;
  /** Tells an event of its own in the name of the run around it. */
  emit(make: (header: EventHeader, orchestrator: string) => BaseEvent): void;
}

/** What a run inside a call came to: a value for the model, or somebody to wait for. */
export type NestedResult =
  { readonly type: 'ended'; readonly value: unknown } | { readonly type: 'waiting'; readonly waits: readonly Wait[]; readonly memo: Json };

/** Where a run inside a call stands. */
export interface Round {
  /** The place of the call in its step. */
  readonly index: number;
  /** What the step around it has spent that its state does not show yet. */
  readonly own: Spent;
  readonly round: number;
  readonly memo?: Json;
  readonly answers: readonly Answer[];
}

/** The id under which something inside a call is waited for outside. */
export const outerId = (callId: string, id: string): string => `${callId}/${id}`;

/** What is kept of a run inside a call that waits. */
export function memoOf({ call, waits, memo }: NestedWaiting, round: number): NestedMemo {
  // Holds: they come from this room's own work on runs inside calls.
  return { round, args: call.args, waits: (waits as readonly Wait[]).map(({ id }) => id), memo };
}

function hostOf<Context>({ turn, setup }: Work<Context>, { id }: ToolCall, at: Round): NestedHost<Context> {
  const { scope, state } = turn;
  const prefix = `${scope.executionId}/${scope.stepNumber}/${id}/${at.round}`;
  let drawn = 0;
  const ids: IdSource = () => `${prefix}/${(drawn += 1)}`;
  const outer = scope.nest(`nested/${scope.stepNumber}/${at.index}/${at.round}`, {
    own: at.own,
    ids,
    path: outerId(id, ''),
    watchesCost: setup.watchesCost,
  });
  return {
    context: scope.context,
    toolCallId: id,
    state,
    outer,
    clock: scope.clock,
    ids,
    memo: at.memo,
    answers: at.answers,
    report: (error, where) => reportSafely(setup.onProblem ?? reportToConsole, error, where),
    emit: (make) => scope.emit((header) => make(header, setup.name)),
  };
}

/** Carries on a run inside a call. Never rejects. */
export async function carryOnNested<Context>(work: Work<Context>, { call, tool, parsed }: NestedCall, at: Round): Promise<NestedOutcome> {
  const { scope } = work.turn;
  const [startedAt, began] = [scope.clock.now(), scope.clock.monotonic()];
  const timing = (): { readonly startedAt: number; readonly durationMs: number } => ({
    startedAt,
    durationMs: Math.max(0, Math.round(scope.clock.monotonic() - began)),
  });
  const ended = (execution: ToolExecution): NestedOutcome => ({ type: 'ended', call, execution });
  try {
    // Holds: the arguments were parsed by this tool's schema, and a tool of this kind is made by defineNestedTool().
    const result = (await tool.carryOn(parsed as never, hostOf(work, call, at) as never)) as NestedResult;
    if (result.type === 'ended') return ended(await answeredExecution(call, result.value, { tool, ...timing() }));
    const waits = result.waits.map((wait): Wait => ({ ...wait, id: outerId(call.id, wait.id) }));
    return { type: 'nested-waiting', call, waits, memo: result.memo };
  } catch (error) {
    const isCutOff = scope.interruption !== undefined;
    if (isCutOff && at.memo !== undefined) return ended(unknownExecution(call, { ...timing(), text: givenUp('interrupted') }));
    if (isCutOff) return ended(cancelledExecution(call, timing()));
    return ended(failedExecution(call, classifyError(error, { fallback: 'tool' }), timing()));
  }
}
