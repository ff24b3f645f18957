// A wait as it is shown to whoever has to answer it.
// W1. What is not shown of the arguments is named: the paths of secrets, and whether the rest was cut.
import type { Json, JsonObject, Redactor } from '../../lib/index.ts';
import { childPath, isList, isRecord, present } from '../../lib/index.ts';
import type { SessionWait } from '../../sessions/index.ts';
import type { RequestedWait } from './authorization.ts';

/** Settings for showing arguments. */
export interface WaitViewOptions {
  readonly redactor: Redactor;
  /** Longest JSON of arguments that is shown. */
  readonly maxLength: number;
}

export const toIso = (at: number): string => new Date(at).toISOString();

function listDifferences(whole: Json, shown: Json, path: string): readonly string[] {
  if (whole === shown) return [];
  if (isList(whole) && isList(shown))
    return whole.flatMap((item, index) => listDifferences(item, shown[index] ?? null, childPath(path, index)));
  if (isRecord(whole) && isRecord(shown))
    return Object.entries(whole).flatMap(([key, value]) => listDifferences(value, shown[key] ?? null, childPath(path, key)));
  return [path === '' ? 'all' : path];
}

/** Arguments as they are shown. */
export interface ShownArgs {
  /** Absent if they are too long. */
  readonly args?: Json;
  /** Paths of secrets, and `…` if the arguments are too long to be shown. Empty if everything is shown. */
  readonly hidden_fields: readonly string[];
}

/** Returns the part of a call's arguments that is shown. */
export function toShownArgs(args: Json, { redactor, maxLength }: WaitViewOptions): ShownArgs {
  const shown = redactor.value(args);
  const hidden = listDifferences(args, shown, '');
  return JSON.stringify(shown).length > maxLength ? { hidden_fields: [...hidden, '…'] } : { args: shown, hidden_fields: hidden };
}

const times = ['since', 'nextTryAt', 'giveUpAt'] as const;
const timeNames = { since: 'since', nextTryAt: 'next_try_at', giveUpAt: 'give_up_at' } as const;

function toFields(wait: SessionWait): JsonObject {
  const all: Readonly<Record<string, unknown>> = { ...wait };
  const dates = Object.fromEntries(times.flatMap((key) => (typeof all[key] === 'number' ? [[timeNames[key], toIso(all[key])]] : [])));
  const { type, id, toolName, prompt, limit, reason, problem, agent, participant, tries, attempts, digest } = all;
  const names = { type, wait_id: id, tool: toolName, prompt, limit, reason, problem, agent, participant, tries: tries ?? attempts, digest };
  return present({ ...names, ...dates, ...(wait.expiresAt !== undefined && { expires_at: toIso(wait.expiresAt) }) });
}

/** Shows a wait without secrets. */
export function toWaitView(wait: SessionWait, options: WaitViewOptions): JsonObject {
  const shown = 'args' in wait ? toShownArgs(wait.args, options) : {};
  // Holds: names of fields, and JSON that a store held.
  return { ...toFields(wait), ...(shown as JsonObject) };
}

/** Shows a wait with everything in it. `seen` proves that this was shown to the author of a later approval. */
export function toWholeWaitView(wait: RequestedWait, seen: string): JsonObject {
  const { requestedBy: by } = wait;
  const asker = by === undefined ? {} : { requested_by: { id: by.id, kind: by.kind } };
  return { ...toFields(wait), ...('args' in wait && { args: wait.args, hidden_fields: [] }), ...asker, seen };
}
