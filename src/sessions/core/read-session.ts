// A stored session, read without running it.
import type { EffectRow } from '../../journal/index.ts';
import { WrongKindError } from '../../serialization/index.ts';
import type { RunState, StateType } from '../../step-by-step/index.ts';
import type { SessionReader, StoredSession } from '../store/session-store.ts';
import type { ReplayedLog } from './entries.ts';
import { readStored, replay } from './entries.ts';
import type { SessionFacts } from './session.ts';
import { readHeader, toFacts } from './session.ts';

/** Finds the kind of states that a session has, by its agent and the name of the kind. Throws if it is unknown. */
export type FindStates = (agentName: string, kind: string) => StateType;

/** A session as it is stored. */
export interface ReadSession extends ReplayedLog {
  readonly facts: SessionFacts;
  readonly states: StateType;
  readonly state: RunState;
  /** True if something is left to do without anybody's help. */
  readonly isOpen: boolean;
  readonly head: number;
  readonly effects: readonly EffectRow[];
}

/** Reads a session from what was loaded. */
export function toReadSession({ header, entries, effects, head }: StoredSession, findStates: FindStates): ReadSession {
  return readStored(header.id, () => {
    const { kind } = readHeader(header);
    const states = findStates(header.agentName, kind);
    if (kind !== states.kind) throw new WrongKindError(states.kind, kind);
    return { facts: toFacts(header), states, ...replay(entries, states), isOpen: header.isOpen, head, effects };
  });
}

/** Resting state of a session. */
interface SessionRest {
  /** True if nothing is left to do without anybody's help. */
  readonly isAtRest: boolean;
  /** True if it waits for a person because its step ended the process each time. */
  readonly isCrashLoop: boolean;
  readonly executions: number;
}

/** Finds out whether a session is at rest; undefined if there is none. Cheap: the log is not read. */
export async function findRest(reader: SessionReader, sessionId: string): Promise<SessionRest | undefined> {
  const open = await reader.heads.read(sessionId);
  if (open === undefined) return undefined;
  const { executions, waitingFor } = readStored(sessionId, () => readHeader(open.header));
  return { isAtRest: !open.header.isOpen, isCrashLoop: waitingFor.some(({ reason }) => reason === 'crash-loop'), executions };
}

/** True if an execution of a session has ended or waits. */
export async function isAtRest(reader: SessionReader, sessionId: string, execution: number): Promise<boolean> {
  const rest = await findRest(reader, sessionId);
  // A deleted session says so when it is read.
  return rest === undefined || rest.isAtRest || rest.executions > execution;
}
