import { checkKeys, describeBrokenText, describeValue, InvalidArgumentError, isCleanText, isRecord } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { Hook, HookOptions } from './hook.ts';
import { canChange } from './hook.ts';
import type { HookChainOptions } from './hook-chain.ts';
import { HookChain } from './hook-chain.ts';
import type { HookChange } from './hook-change.ts';
import { hookChanges } from './hook-change.ts';
import type { HookPoint } from './hook-point.ts';
import { handlerNames, hookPoints } from './hook-point.ts';

const defaultTimeoutMs = 30_000;
const knownOptions: readonly string[] = ['name', 'order', 'changes', 'timeoutMs', 'context', ...Object.values(handlerNames)];

function findProblem(options: Readonly<Record<string, unknown>>): string | undefined {
  const { order, timeoutMs, changes = [] } = options;
  checkKeys(`hook ${JSON.stringify(options['name'])}`, options, knownOptions);
  if (order !== undefined && !Number.isFinite(order)) return `must have a number as order, not ${describeValue(order)}.`;
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0))
    return `must have a timeoutMs above 0, or Infinity, not ${describeValue(timeoutMs)}.`;
  if (!Array.isArray(changes)) return `must have a list as changes, not ${describeValue(changes)}. Use any of ${hookChanges.join(', ')}.`;
  const unknown = changes.findIndex((change: unknown) => !hookChanges.includes(change as HookChange));
  const named = typeof changes[unknown] === 'string' ? JSON.stringify(changes[unknown]) : String(changes[unknown]);
  return unknown === -1 ? undefined : `has an unknown entry ${named} in changes. Use any of ${hookChanges.join(', ')}.`;
}

function listPoints(options: Readonly<Record<string, unknown>>): readonly HookPoint[] {
  return hookPoints.filter((point) => options[handlerNames[point]] !== undefined);
}

/** Returns the problem with handlers and declarations that do not match. */
function findPointProblem(points: readonly HookPoint[], options: Readonly<Record<string, unknown>>): string | undefined {
  if (points.length === 0) return `has no handler. Add at least one of ${Object.values(handlerNames).join(', ')}.`;
  const broken = points.find((point) => typeof options[handlerNames[point]] !== 'function');
  if (broken !== undefined) return `must have a function as ${handlerNames[broken]}, not ${describeValue(options[handlerNames[broken]])}.`;
  const changes = (options['changes'] ?? []) as readonly HookChange[];
  const idle = changes.find((change) => !points.some((point) => canChange(point, change)));
  if (idle === undefined) return undefined;
  const where = hookPoints.filter((point) => canChange(point, idle)).map((point) => handlerNames[point]);
  return `has "${idle}" in changes, but no handler that can change it. Add ${where.join(' or ')}, or remove "${idle}".`;
}

/** Creates a hook for any kind of state. Throws if it could not work. */
export function defineAnyHook<
  const Changes extends readonly HookChange[] = readonly [],
  Context = unknown,
  State extends RunState = RunState,
>(options: HookOptions<Changes, State, Context>): Hook<State, Context> {
  const given: unknown = options;
  if (!isRecord(given) || typeof given['name'] !== 'string' || given['name'] === '')
    throw new InvalidArgumentError(
      `A hook needs a name: a non-empty string, not ${describeValue(isRecord(given) ? given['name'] : given)}. Give it a stable one: events and explanations refer to it by name.`,
    );
  const points = listPoints(given);
  const isStorable = isCleanText(given['name']);
  const problem = (isStorable ? undefined : describeBrokenText(given['name'])) ?? findProblem(given) ?? findPointProblem(points, given);
  if (problem !== undefined) throw new InvalidArgumentError(`Hook "${given['name']}" ${problem}`);
  const { name, order = 0, changes = [], timeoutMs = defaultTimeoutMs, context } = options;
  const handlers = Object.fromEntries(points.map((point) => [point, options[handlerNames[point]]])) as Hook['handlers'];
  const parts = {
    order,
    points: Object.freeze(points),
    changes: Object.freeze([...changes]),
    timeoutMs,
    needsContext: context !== undefined,
    chain: (chained: HookChainOptions) => new HookChain(chained),
    handlers: Object.freeze(handlers),
  };
  const withName = (other: string): Hook<State, Context> => Object.freeze({ name: other, ...parts, withName });
  return withName(name);
}
