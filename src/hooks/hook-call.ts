// Calling one hook.
// Owns:     asking it, keeping and telling what it changed, and what its failure becomes.
// Does not: know the order of hooks, or what a point's change does to the work at hand: the chain does.
import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import { reportSafely, reportToConsole } from '../events/index.ts';
import type { Soon } from '../lib/index.ts';
import { deepFreeze, isRecord, isThenable } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { blockedExecution } from '../tools/index.ts';
import type { Calling, Facts } from './facts.ts';
import type { Hook } from './hook.ts';
import type { Change } from './hook-answer.ts';
import { canonical, checkedChange, checkedVote, cutOff, toHookError, inTime } from './hook-answer.ts';
import type { HookChange } from './hook-change.ts';
import { HookApplied, HookReported, ToolCallBlocked } from './hook-events.ts';
import { HookFailedError } from './hook-failed-error.ts';
import { HookPoint } from './hook-point.ts';

/** What a hook answered: a change, nothing, or that the run was cut off meanwhile. */
export type Answered = Change | typeof cutOff | undefined;

/** Goes on with a value when it is there. */
export const whenThere = <Value, Next>(value: Soon<Value>, next: (value: Value) => Soon<Next>): Soon<Next> =>
  value instanceof Promise ? value.then(next) : next(value);

/** Whatever a hook throws, also from a getter of what it gave back, is its failure. */
function asHookFailed(calling: Calling, error: unknown): HookFailedError {
  return error instanceof HookFailedError ? error : toHookError(calling, classifyError(error).message, error);
}

/** What a hook threw of itself is reported with its stack: the record keeps plain data only. */
function fail(calling: Calling, error: unknown): never {
  const known = asHookFailed(calling, error);
  if (known.cause !== undefined) reportHook(calling.at.onProblem, known);
  throw known;
}

/** Reports a hook that failed, under its name. */
export function reportHook(onProblem: ProblemReporter | undefined, error: HookFailedError): void {
  reportSafely(onProblem ?? reportToConsole, error, `hook ${error.hook}`);
}

// Whoever asks what a run was waiting for when it was cut off finds it here.
function tellCutOff({ hook, at }: Calling): void {
  const { scope, point, orchestrator } = at;
  const facts = { hook, point, message: 'it was still at work when the run was cut off', data: {} };
  scope.events.emit((header) => new HookReported(header, orchestrator, facts));
}

/** Calls a hook, and checks what it gave back. Throws or rejects with a HookFailedError. */
export function ask(hook: Hook, facts: Facts, calling: Calling): Soon<Answered> {
  const check = (given: unknown): Answered => {
    if (given === cutOff) tellCutOff(calling);
    return given === cutOff || given === undefined ? given : checkedChange(hook, calling, given);
  };
  try {
    // Holds: the facts are those of this point.
    const returned: unknown = hook.handlers[calling.at.point]?.(facts);
    if (returned === undefined) return undefined;
    if (!isThenable(returned)) return check(returned);
    return inTime(hook, calling, returned)
      .then(check)
      .catch((error: unknown) => fail(calling, error));
  } catch (error) {
    return fail(calling, error);
  }
}

/** Tells what a hook has changed. Its votes are told with the judgement. */
export function tellChange({ hook, at }: Calling, change: Change): void {
  const { scope, point, toolCallId, orchestrator } = at;
  const changed = (Object.keys(change) as HookChange[]).filter((key) => key !== 'votes' && change[key] !== undefined);
  if (changed.length > 0) scope.events.emit((header) => new HookApplied(header, orchestrator, { hook, point, changed, toolCallId }));
}

/** Notes votes and metadata; gives the state that has the metadata. */
export function keep(hook: Hook, { votes, metadata }: Change, calling: Calling): RunState {
  const { state, at } = calling;
  const { scope } = at;
  if (votes !== undefined)
    scope.notes.add({ evaluations: (Array.isArray(votes) ? votes : [votes]).map((vote) => checkedVote(hook, vote, calling)) });
  if (metadata === undefined) return state;
  const kept = canonical(metadata, 'its metadata', calling);
  if (!isRecord(kept)) throw toHookError(calling, 'its metadata is no object.');
  scope.notes.add({ metadata: kept });
  return state.evolve({ metadata: deepFreeze({ ...state.metadata, ...kept }) });
}

/** The failed result of a call that a hook held back, told. */
export function blockCall(
  call: ToolCall,
  reason: unknown,
  { calling, ...timing }: { readonly calling: Calling; readonly startedAt: number; readonly durationMs?: number },
): ToolExecution {
  const { hook, at } = calling;
  const { scope, point, orchestrator } = at;
  if (typeof reason !== 'string' || reason === '')
    throw toHookError(calling, 'it blocked without a reason; give one in words: the model reads it.');
  const facts = { tool: call.name, toolCallId: call.id, args: call.args, hook, reason };
  scope.events.emit((header) => new ToolCallBlocked(header, orchestrator, facts));
  const what = point === HookPoint.BeforeTool ? `"${call.name}" was not called` : `The result of "${call.name}" was withheld`;
  return blockedExecution(call, reason, { ...timing, text: `${what}: ${reason}` });
}

/** A hook that is asked, and what follows from its answer or its failure. */
interface Attempt {
  readonly ask: () => Soon<Answered>;
  readonly next: (change: Answered) => Soon<void>;
  readonly fail: (failure: Failure) => void;
}

/** Asks, goes on with the answer, and hands over what goes wrong on the way as a failure. */
export function orFailure(calling: Calling, attempt: Attempt): Soon<void> {
  const failedWith = (error: unknown): void => {
    attempt.fail(classifyError(asHookFailed(calling, error), { readable: false }));
  };
  try {
    const asked = whenThere(attempt.ask(), attempt.next);
    return asked instanceof Promise ? asked.catch(failedWith) : asked;
  } catch (error) {
    failedWith(error);
  }
}
