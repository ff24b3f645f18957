import { checkKeys, describeBrokenText, InvalidArgumentError, isCleanText, isRecord } from '../lib/index.ts';
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
  checkKeys(`hook ${JSON.stringify(options['name'])}`, options, { known: knownOptions });
  if (order !== undefined && !Number.isFinite(order)) return 'needs a number as its order.';
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) return 'needs a timeoutMs above 0, or Infinity.';
  if (!Array.isArray(changes)) return `needs a list as its changes; there are ${hookChanges.join(', ')}.`;
  const unknown = changes.findIndex((change: unknown) => !hookChanges.includes(change as HookChange));
  const named = typeof changes[unknown] === 'string' ? JSON.stringify(changes[unknown]) : String(changes[unknown]);
  return unknown === -1 ? undefined : `declares to change ${named}; there are ${hookChanges.join(', ')}.`;
}

function pointsOf(options: Readonly<Record<string, unknown>>): readonly HookPoint[] {
  return hookPoints.filter((point) => options[handlerNames[point]] !== undefined);
}

/** Returns the problem with handlers and declarations that do not match. */
function pointProblem(points: readonly HookPoint[], options: Readonly<Record<string, unknown>>): string | undefined {
  if (points.length === 0) return `has no handler; give it one of ${Object.values(handlerNames).join(', ')}.`;
  const broken = points.find((point) => typeof options[handlerNames[point]] !== 'function');
  if (broken !== undefined) return `needs a function as ${handlerNames[broken]}.`;
  const changes = (options['changes'] ?? []) as readonly HookChange[];
  const idle = changes.find((change) => !points.some((point) => canChange(point, change)));
  if (idle === undefined) return undefined;
  const where = hookPoints.filter((point) => canChange(point, idle)).map((point) => handlerNames[point]);
  return `declares to change "${idle}", which can be changed in ${where.join(', ')} only; it has no such handler.`;
}

/** Creates a hook for any kind of state. Throws if it could not work. */
export function defineAnyHook<
  const Changes extends readonly HookChange[] = readonly [],
  Context = unknown,
  State extends RunState = RunState,
>(options: HookOptions<Changes, State, Context>): Hook<State, Context> {
  const given: unknown = options;
  if (!isRecord(given) || typeof given['name'] !== 'string' || given['name'] === '')
    throw new InvalidArgumentError('A hook needs a name. Give it a stable one: it is how votes, events and errors refer to it.');
  const points = pointsOf(given);
  const isStorable = isCleanText(given['name']);
  const problem = (isStorable ? undefined : describeBrokenText(given['name'])) ?? findProblem(given) ?? pointProblem(points, given);
  if (problem !== undefined) throw new InvalidArgumentError(`Hook "${given['name']}" ${problem}`);
  const { name, order = 0, changes = [], timeoutMs = defaultTimeoutMs, context } = options;
  const handlers = Object.fromEntries(points.map((point) => [point, options[handlerNames[point]]])) as Hook['handlers'];
  return Object.freeze({
    name,
    order,
    points: Object.freeze(points),
    changes: Object.freeze([...changes]),
    timeoutMs,
    needsContext: context !== undefined,
    chain: (chained: HookChainOptions) => new HookChain(chained),
    handlers: Object.freeze(handlers),
  });
}
