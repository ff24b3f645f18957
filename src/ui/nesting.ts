// The call that a run inside another belongs to, from the id of its execution: `<outer execution>/<step>/<call>/<round>/<number>`.
import type { EventEnvelope } from '../broadcasting/index.ts';
import { isRoot } from './fields.ts';

/** Place of a message inside a call. */
export interface Nesting {
  /** Number of calls around it. */
  readonly depth: number;
  /** Id of the message of the call around it. */
  readonly parent_id: string;
  readonly parent_tool_call_id: string;
}

/** Parts of an id for each run inside another. */
const levelParts = 4;

const unescapePart = (part: string): string => part.replaceAll('%2F', '/').replaceAll('%25', '%');

const isNumber = (part: string | undefined): boolean => part !== undefined && /^\d+$/.test(part);

/** Returns the place inside a call; undefined for the session's own agent, and for a participant that takes a turn in no call. */
export function readNesting(envelope: EventEnvelope): Nesting | undefined {
  if (isRoot(envelope)) return undefined;
  const calls: Omit<Nesting, 'depth'>[] = [];
  for (let parts = envelope.execution_id.split('/'); parts.length > levelParts;) {
    const [step, call = '', round, number] = parts.slice(-levelParts);
    parts = parts.slice(0, -levelParts);
    if (![step, round, number].every(isNumber)) break;
    const id = unescapePart(call);
    // Participants have runs of their own too, under their names.
    if (id !== envelope.participant) calls.push({ parent_id: `${parts.join('/')}/${step ?? ''}/${id}`, parent_tool_call_id: id });
  }
  const [innermost] = calls;
  return innermost === undefined ? undefined : { depth: calls.length, ...innermost };
}
