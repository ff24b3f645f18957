import { LimitKind } from '../../continuation/index.ts';
import type { Json, JsonObject, ReadValue } from '../../lib/index.ts';
import { childPath, DamagedDataError, omitUndefined, present, readObject } from '../../lib/index.ts';
import type { Wait } from '../../step-by-step/index.ts';
import { getWaitDigest } from '../../step-by-step/index.ts';
import type { AgentState } from '../agent-state.ts';
import {
  createReader,
  json,
  jsonObject,
  oneOf,
  optional,
  optionalBoolean,
  optionalNumber,
  optionalString,
  string,
  time,
} from './field-readers.ts';
import type { SlimArgs } from './slim-message.ts';
import { writeArgs } from './slim-message.ts';
import { toIso } from './slim-step.ts';
import type { SlimWriter } from './slim-writer.ts';

/** Something that the run waits for. */
export interface SlimWait extends SlimArgs {
  readonly type: Wait['type'];
  readonly id: string;
  readonly tool_name?: string;
  readonly prompt?: string;
  readonly limit?: LimitKind;
  readonly problem?: string;
  /** Path of the run inside a call that asks. */
  readonly agent?: string;
  readonly participant?: string;
  /** Why a provider, a person after crashes, or an approval is waited for. */
  readonly reason?: string;
  readonly since?: string;
  /** Number of times that the step was tried. */
  readonly tries?: number;
  readonly next_try_at?: string;
  readonly give_up_at?: string;
  /** Binds an answer to what was asked; a session wants it with an approval. */
  readonly digest: string;
}

const waitTypes = ['approval', 'client-tool', 'unknown-call', 'person', 'provider', 'grant'] as const satisfies readonly Wait['type'][];

const readFields = createReader<SlimWait>({
  type: oneOf(waitTypes),
  id: string,
  tool_name: optionalString,
  args: json,
  args_text: optionalString,
  args_redacted: optionalBoolean,
  prompt: optionalString,
  limit: optional(oneOf(LimitKind)),
  problem: optionalString,
  agent: optionalString,
  participant: optionalString,
  reason: optionalString,
  since: optional(time),
  tries: optionalNumber,
  next_try_at: optional(time),
  give_up_at: optional(time),
  digest: string,
});

/** A wait for a provider that is down. */
export type SlimProviderWait = SlimWait & Required<Pick<SlimWait, 'reason' | 'since' | 'tries' | 'next_try_at' | 'give_up_at'>>;

/** A wait for a person after a step ended the process each time it was resumed. */
export type SlimCrashLoopWait = SlimWait & Required<Pick<SlimWait, 'since' | 'tries'>>;

const isProviderWait = (wait: SlimWait): wait is SlimProviderWait => wait.type === 'provider';

export const isCrashLoopWait = (wait: SlimWait): wait is SlimCrashLoopWait => wait.type === 'person' && wait.reason === 'crash-loop';

/** Names the fields that a wait has because of its type. */
function listNeeded(wait: SlimWait): readonly (keyof SlimWait)[] {
  if (isProviderWait(wait)) return ['reason', 'since', 'tries', 'next_try_at', 'give_up_at'];
  return isCrashLoopWait(wait) ? ['since', 'tries'] : [];
}

export const readWait: ReadValue<SlimWait> = (input, path) => {
  const wait = readFields(input, path);
  const missing = listNeeded(wait).find((name) => wait[name] === undefined);
  if (missing !== undefined) throw new DamagedDataError(childPath(path, missing), 'expected a value, found nothing');
  return wait;
};

type RetriedFields = Pick<SlimWait, 'reason' | 'since' | 'tries' | 'next_try_at' | 'give_up_at'>;

/** Writes why somebody is waited for, how often a step was tried, and when it is tried again. */
function writeTries(wait: Wait, writer: SlimWriter): RetriedFields {
  if (wait.type === 'provider') {
    const { reason, since, tries, nextTryAt, giveUpAt } = wait;
    return {
      reason: writer.writeText(reason),
      since: toIso(since),
      tries,
      next_try_at: toIso(nextTryAt),
      give_up_at: toIso(giveUpAt),
    };
  }
  if (wait.type === 'approval') return wait.reason === undefined ? {} : { reason: writer.writeText(wait.reason) };
  if (wait.type !== 'person' || wait.reason === undefined) return {};
  return { reason: wait.reason, since: toIso(wait.since), tries: wait.attempts };
}

export function writeWait(wait: Wait, state: AgentState, writer: SlimWriter): SlimWait {
  const write = (text: string | undefined): string | undefined => (text === undefined ? undefined : writer.writeText(text));
  return {
    type: wait.type,
    id: writer.writeName(wait.id),
    ...('toolName' in wait && { tool_name: writer.writeName(wait.toolName), ...writeArgs(wait.args, writer) }),
    ...('limit' in wait && { limit: wait.limit }),
    ...writeTries(wait, writer),
    ...omitUndefined({
      prompt: 'prompt' in wait ? write(wait.prompt) : undefined,
      problem: write(wait.problem),
      agent: wait.agent === undefined ? undefined : writer.writeName(wait.agent),
      participant: 'participant' in wait ? writer.writeName(wait.participant) : undefined,
    }),
    digest: getWaitDigest(state, wait),
  };
}

/** A wait in a whole payload: its stored form, with the name of the tool as `tool_name`, and the digest. */
export interface WholeSlimWait {
  readonly type: Wait['type'];
  readonly id: string;
  readonly tool_name?: string;
  readonly args?: Json;
  readonly prompt?: string;
  readonly limit?: LimitKind;
  readonly digest: string;
}

const readShownWait = createReader<Pick<WholeSlimWait, 'id' | 'digest'>>({ id: string, digest: string });

/** A wait that was read, and all of its fields. */
export interface ReadWholeWait {
  readonly id: string;
  readonly fields: JsonObject;
}

export const readWholeWait: ReadValue<ReadWholeWait> = (input, path) => ({
  id: readShownWait(input, path).id,
  fields: jsonObject(readObject({ wait: input }, path), 'wait'),
});

/** Shows a stored wait. */
export function writeWholeWait({ type, id, toolName, ...others }: JsonObject, digest: string): WholeSlimWait {
  // Holds: a stored wait has these fields, and they are of these types.
  return present({ type, id, tool_name: toolName, ...others, digest }) as unknown as WholeSlimWait;
}

/** Returns the stored form of a wait. */
export function toStoredWait({ fields: { tool_name, digest: _, ...others } }: ReadWholeWait): JsonObject {
  return present({ ...others, toolName: tool_name });
}
