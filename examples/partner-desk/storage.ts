// A conversation in a file: the state's own JSON. The leads of the session ride along in its metadata.
import { readFile, writeFile } from 'node:fs/promises';
import type { AgentState } from 'stepline';
import type { Desk } from './desk.ts';
import type { Directory } from './partners.ts';

const leadsKey = 'leads';

export type Loaded = { readonly ok: true; readonly state: AgentState } | { readonly ok: false; readonly problem: string };

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Writes a state; returns what went wrong, if anything did. */
export async function saveState(file: string, state: AgentState, directory: Directory): Promise<string | undefined> {
  try {
    await writeFile(file, `${JSON.stringify(state.withMetadata(leadsKey, directory.leads()), undefined, 2)}\n`);
    return undefined;
  } catch (error) {
    return `It could not be saved: ${messageOf(error)}`;
  }
}

/** Reads a state and takes over its leads. Where that fails, nothing has changed. */
export async function loadState(file: string, desk: Pick<Desk, 'restore'>, directory: Directory): Promise<Loaded> {
  try {
    const state = desk.restore(JSON.parse(await readFile(file, 'utf8')));
    const leads = state.metadata[leadsKey];
    if (leads !== undefined && !directory.takeLeads(leads)) return { ok: false, problem: `${file} holds leads that are none.` };
    return { ok: true, state };
  } catch (error) {
    return { ok: false, problem: `${file} could not be loaded: ${messageOf(error)}` };
  }
}
