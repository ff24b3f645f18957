// Checks of what hooks return: in time, of the right form, and declared.
import type { ContinuationEvaluation } from '../continuation/index.ts';
import { parseEvaluation } from '../continuation/index.ts';
import { classifyError } from '../errors/index.ts';
import type { Json } from '../lib/index.ts';
import { copyFrozen, isPlainObject, isThenable, toCanonical } from '../lib/index.ts';
import type { Message } from '../messages/index.ts';
import type { Calling } from './facts.ts';
import type { Hook } from './hook.ts';
import { canChange } from './hook.ts';
import type { HookChange } from './hook-change.ts';
import { changesAt } from './hook-change.ts';
import type { InferenceRequestFacts } from './hook-facts.ts';
import { HookFailedError } from './hook-failed-error.ts';
import { findMessageProblem } from './step-output.ts';

/** Changes that a hook returned. */
export type Change = Readonly<Partial<Record<HookChange, unknown>>>;

/** Stands for a run that was interrupted while a hook was running. */
export const cutOff: unique symbol = Symbol('cut off');

// JSON.stringify gives undefined for undefined, functions and symbols, whatever its type says.
const toJsonText = (value: unknown): string | undefined => JSON.stringify(value);

const describeValue = (value: unknown): string => {
  if (isThenable(value)) {
    // Nobody awaits it; an unhandled rejection would end the process.
    value.then(undefined, () => undefined);
    return 'a promise (await it first)';
  }
  try {
    return toJsonText(value) ?? typeof value;
  } catch {
    return 'a value that cannot be written as JSON';
  }
};

/** Creates the error of a failed hook. */
export function toHookError({ hook, at: { point } }: Calling, problem: string, cause?: unknown): HookFailedError {
  return new HookFailedError({ hook, point }, problem, cause);
}

/** Awaits a hook until its time limit, or until the run is interrupted. */
export function inTime({ timeoutMs }: Hook, calling: Calling, work: PromiseLike<unknown>): Promise<unknown> {
  const { scope } = calling.at;
  return new Promise((resolve, reject) => {
    const { signal } = scope.control;
    const leave = (): void => {
      cancel?.();
      signal.removeEventListener('abort', stop);
    };
    const stop = (): void => {
      leave();
      resolve(cutOff);
    };
    const giveUp = (): void => {
      leave();
      reject(toHookError(calling, `it took longer than ${timeoutMs} ms.`));
    };
    const fail = (error: unknown): void => {
      leave();
      // An error caused by the interruption of the run is not a failure.
      if (scope.control.interruption === undefined) reject(toHookError(calling, classifyError(error).message, error));
      else resolve(cutOff);
    };
    const cancel = timeoutMs === Infinity ? undefined : scope.time.clock.schedule(timeoutMs, giveUp);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    // Handled even if nobody waits any more: an unhandled rejection would end the process.
    try {
      work.then((value) => {
        leave();
        resolve(value);
      }, fail);
    } catch (error) {
      fail(error);
    }
  });
}

/** Throws for a change that was not declared, or that cannot be made at this point. */
export function parseChange({ changes }: Hook, calling: Calling, given: unknown): Change {
  if (!isPlainObject(given))
    throw toHookError(calling, `it returned ${describeValue(given)}. Return nothing, or an object with its changes.`);
  for (const key of Object.keys(given)) {
    if (given[key] === undefined) continue;
    if (!canChange(calling.at.point, key)) {
      const possible = changesAt[calling.at.point].join(', ');
      throw toHookError(calling, `it cannot change "${key}" at this point. Possible changes: ${possible}.`);
    }
    if (!changes.includes(key as HookChange))
      throw toHookError(calling, `it changed "${key}" without declaring it. Add "${key}" to its changes.`);
  }
  return given;
}

/** Checks a vote and names the hook as its source. */
export function parseVote({ name }: Hook, vote: unknown, calling: Calling): ContinuationEvaluation {
  const { point } = calling.at;
  const wanted = '{ decision, reason, stopReason?, context? } as plain JSON, with the decision forbid, allow, request or stop';
  if (!isPlainObject(vote) || !(vote['context'] === undefined || isPlainObject(vote['context'])))
    throw toHookError(calling, `it voted ${describeValue(vote)}. Return ${wanted}.`);
  try {
    return parseEvaluation(name, { ...vote, criterion: name, context: { point, ...(vote['context'] ?? {}) } });
  } catch {
    throw toHookError(calling, `it voted ${describeValue(vote)}. Return ${wanted}.`);
  }
}

/** Converts a value returned by a hook to its stored form. */
export function canonical(value: unknown, what: string, calling: Calling): Json {
  const result = toCanonical(value);
  if (result.ok) return copyFrozen(result.value);
  throw toHookError(calling, `${what} cannot be stored: ${result.path === '' ? 'it' : result.path} ${result.problem}.`);
}

/** Checks the tools that a hook leaves available. */
export function narrowTools(tools: readonly string[], wanted: unknown, calling: Calling): readonly string[] {
  if (wanted === undefined) return tools;
  if (!Array.isArray(wanted)) throw toHookError(calling, `its tools must be a list of tool names, not ${describeValue(wanted)}.`);
  const strange = wanted.findIndex((name) => !tools.includes(name as string));
  if (strange !== -1)
    throw toHookError(
      calling,
      `it chose an unknown tool: ${describeValue(wanted[strange])}. Available tools: ${tools.length === 0 ? 'none' : tools.join(', ')}.`,
    );
  return tools.filter((name) => wanted.includes(name));
}

/** Applies a hook's changes to the request. */
export function changeRequest(request: InferenceRequestFacts, change: Change, calling: Calling): InferenceRequestFacts {
  const { messages, settings, tools } = change;
  if (settings !== undefined && !isPlainObject(settings))
    throw toHookError(calling, `its settings must be an object, not ${describeValue(settings)}.`);
  const problem = messages === undefined ? undefined : findMessageProblem(messages);
  if (problem !== undefined) throw toHookError(calling, `its messages ${problem}`);
  return {
    ...request,
    ...(messages !== undefined && { messages: messages as readonly Message[] }),
    ...(settings !== undefined && { settings: settings }),
    tools: narrowTools(request.tools, tools, calling),
  };
}
