// Calling one hook.
// Owns:     calling it, recording and emitting its changes, and handling its failure.
// Does not: know the order of hooks, or apply a change to the current work: the chain does.
import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import { reportSafely } from '../events/index.ts';
import type { Soon } from '../lib/index.ts';
import { cleanText, deepFreeze, isRecord, isThenable } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { toBlockedExecution } from '../tools/index.ts';
import type { Calling, Facts } from './facts.ts';
import type { Hook } from './hook.ts';
import type { Change } from './hook-answer.ts';
import { canonical, parseChange, parseVote, cutOff, toHookError, inTime } from './hook-answer.ts';
import type { HookChange } from './hook-change.ts';
import { HookApplied, HookReported, ToolCallBlocked } from './hook-events.ts';
import { HookFailedError } from './hook-failed-error.ts';
import { HookPoint } from './hook-point.ts';

/** Answer of a hook: a change, nothing, or that the run was interrupted meanwhile. */
export type Answered = Change | typeof cutOff | undefined;

/** Continues with a value once it is available. */
export const whenThere = <Value, Next>(value: Soon<Value>, next: (value: Value) => Soon<Next>): Soon<Next> =>
  value instanceof Promise ? value.then(next) : next(value);

/** Turns anything a hook throws, even from a getter of its return value, into its failure. */
function toHookFailed(calling: Calling, error: unknown): HookFailedError {
  return error instanceof HookFailedError ? error : toHookError(calling, classifyError(error).message, error);
}

/** Reports an error thrown by a hook with its stack: the record keeps plain data only. */
function fail(calling: Calling, error: unknown): never {
  const known = toHookFailed(calling, error);
  if (known.cause !== undefined) reportHook(calling.at.scope.onProblem, known);
  throw known;
}

/** Reports a hook that failed, under its name. */
export function reportHook(onProblem: ProblemReporter, error: HookFailedError): void {
  reportSafely(onProblem, error, `hook ${error.hook}`);
}

// Records which hook the run was waiting for when it was interrupted.
function reportCutOff({ hook, at }: Calling): void {
  const { scope, point, orchestrator } = at;
  const facts = { hook, point, message: 'it was still at work when the run was cut off', data: {} };
  scope.events.emit((header) => new HookReported(header, orchestrator, facts));
}

/** Calls a hook and checks its return value. Throws or rejects with a HookFailedError. */
export function ask(hook: Hook, facts: Facts, calling: Calling): Soon<Answered> {
  if (calling.at.scope.skipsHooks === true) return undefined;
  const check = (given: unknown): Answered => {
    if (given === cutOff) reportCutOff(calling);
    return given === cutOff || given === undefined ? given : parseChange(hook, calling, given);
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

/** Emits the changes of a hook. Its votes are emitted with the judgement. */
export function emitChange({ hook, at }: Calling, change: Change): void {
  const { scope, point, toolCallId, orchestrator } = at;
  const changed = (Object.keys(change) as HookChange[]).filter((key) => key !== 'votes' && change[key] !== undefined);
  if (changed.length > 0) scope.events.emit((header) => new HookApplied(header, orchestrator, { hook, point, changed, toolCallId }));
}

/** Records votes and metadata; returns the state with the metadata. */
export function keep(hook: Hook, { votes, metadata }: Change, calling: Calling): RunState {
  const { state, at } = calling;
  const { scope } = at;
  if (votes !== undefined)
    scope.notes.add({ evaluations: (Array.isArray(votes) ? votes : [votes]).map((vote) => parseVote(hook, vote, calling)) });
  if (metadata === undefined) return state;
  const kept = canonical(metadata, 'its metadata', calling);
  if (!isRecord(kept)) throw toHookError(calling, 'its metadata must be an object.');
  scope.notes.add({ metadata: kept });
  return state.evolve({ metadata: deepFreeze({ ...state.metadata, ...kept }) });
}

/** Emits that a hook blocked a call, and returns the failed result of the call. */
export function blockCall(
  call: ToolCall,
  given: unknown,
  { calling, ...timing }: { readonly calling: Calling; readonly startedAt: number; readonly durationMs?: number },
): ToolExecution {
  const { hook, at } = calling;
  const { scope, point, orchestrator } = at;
  if (typeof given !== 'string' || given === '')
    throw toHookError(calling, 'it blocked a call without a reason. Return a non-empty string as block: the model reads it.');
  const reason = cleanText(given);
  const facts = { tool: call.name, toolCallId: call.id, args: call.args, hook, reason };
  scope.events.emit((header) => new ToolCallBlocked(header, orchestrator, facts));
  const what = point === HookPoint.BeforeTool ? `"${call.name}" was not called` : `The result of "${call.name}" was withheld`;
  return toBlockedExecution(call, reason, { ...timing, by: hook, text: `${what}: ${reason}` });
}

/** A call of a hook, with handlers for its answer and its failure. */
interface Attempt {
  readonly ask: () => Soon<Answered>;
  readonly next: (change: Answered) => Soon<void>;
  readonly fail: (failure: Failure) => void;
}

/** Calls a hook, continues with the answer, and passes any error on as a failure. */
export function orFailure(calling: Calling, attempt: Attempt): Soon<void> {
  const reportFailure = (error: unknown): void => {
    attempt.fail(classifyError(toHookFailed(calling, error), { readable: false }));
  };
  try {
    const asked = whenThere(attempt.ask(), attempt.next);
    return asked instanceof Promise ? asked.catch(reportFailure) : asked;
  } catch (error) {
    reportFailure(error);
  }
}
