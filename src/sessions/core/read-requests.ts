import type { AgentDefinition } from '../../inference/index.ts';
import type { StateType } from '../../step-by-step/index.ts';
import type { SessionReader, SessionStore } from '../store/session-store.ts';
import { readBody, readEntriesFrom, readStored, replay } from './entries.ts';
import type { RebuiltRequest } from './sent-requests.ts';
import { readDefinition, rebuildRequests, toDefinitionNote } from './sent-requests.ts';

/** A request of a session, and the step that it belongs to. */
export interface SessionRequest extends RebuiltRequest {
  readonly execution: number;
  readonly step: number;
}

/** Rebuilds everything that models were sent in a session, in order. Steps whose requests were not recorded have none. */
export async function readRequests(
  store: SessionReader & Pick<SessionStore, 'notes'>,
  sessionId: string,
  states: StateType,
): Promise<readonly SessionRequest[]> {
  const entries = await readEntriesFrom(store, sessionId, 1);
  const found = readStored(sessionId, () => entries.map(({ body }) => readBody(body).requests));
  const ids = new Set(found.flatMap((requests) => requests?.sent.map(({ definition }) => definition) ?? []));
  const definitions = new Map<string, AgentDefinition>();
  for (const id of ids) {
    const note = await store.notes.read(toDefinitionNote(id));
    if (note !== undefined) definitions.set(id, readDefinition(note.body));
  }
  return found.flatMap((requests, index) => {
    if (requests === undefined) return [];
    const { state } = readStored(sessionId, () => replay(entries.slice(0, index), states));
    const { execution, step } = requests;
    return rebuildRequests({ state, states, requests, definitions }).map((rebuilt) => ({ execution, step, ...rebuilt }));
  });
}
