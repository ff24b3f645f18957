// Three ways to keep a conversation while nothing of it is in memory: as JSON, in a file, and as a session in SQLite.
// Each action is applied by a new agent, and in a new runtime, on what was read back.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '../../src/entry/index.ts';
import type { Grant } from '../../src/step-by-step/index.ts';
import { AgentState } from '../../src/entry/index.ts';
import type { FakeClock, IdSource } from '../../src/lib/index.ts';
import { createCountingIds, createFakeClock } from '../../src/lib/index.ts';
import type { JsonObject } from '../../src/lib/index.ts';
import type { EntryBody } from '../../src/sessions/core/entries.ts';
import type { EmbeddedRuntime } from '../../src/sessions/index.ts';
import { createSessionRuntime, RuntimeClosedError } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { newProcess } from './stage.ts';

/** Requests to a stored conversation. */
export type Request =
  | { readonly type: 'send'; readonly text: string }
  | { readonly type: 'approve' }
  | { readonly type: 'grant'; readonly amounts: Grant }
  | { readonly type: 'go-on' };

/** Time and ids, shared by all who work on one conversation. */
export interface Desk {
  readonly clock: FakeClock;
  readonly ids: IdSource;
  /** Called when the model is asked for a step. */
  onAsked: (step: number) => void;
}

export type MakeAgent = (desk: Desk) => Agent;

export interface Keeper {
  readonly desk: Desk;
  /** Does something and runs on until the run rests, or until this many steps of the execution are done; then puts all away. */
  perform(request: Request, leaveAfter?: number): Promise<AgentState>;
  /** Reads the stored conversation. */
  read(): Promise<AgentState>;
  end(): void;
}

const createDesk = (): Desk => ({ clock: createFakeClock(), ids: createCountingIds(), onAsked: () => undefined });

function applyRequest(state: AgentState, request: Request, { ids }: Desk): AgentState {
  switch (request.type) {
    case 'send':
      return state.withUserMessage(request.text, { ids });
    case 'approve':
      return state.waitingFor.reduce((each, { id }) => each.approve(id), state);
    case 'grant':
      return state.grant(request.amounts);
    case 'go-on':
      return state;
  }
}

/** Keeps the state as text. */
function textKeeper(make: MakeAgent, text: { read(): string | undefined; write(text: string): void; end(): void }): Keeper {
  const desk = createDesk();
  const read = async (): Promise<AgentState> => {
    const stored = text.read();
    return stored === undefined ? AgentState.empty({ clock: desk.clock, ids: desk.ids }) : make(desk).restore(JSON.parse(stored));
  };
  const perform: Keeper['perform'] = async (request, leaveAfter = Number.POSITIVE_INFINITY) => {
    let state = applyRequest(await read(), request, desk);
    for await (const next of make(desk).iterate(state)) {
      state = next;
      if (state.stepCount >= leaveAfter) break;
    }
    text.write(JSON.stringify(state));
    return read();
  };
  return { desk, perform, read, end: () => text.end() };
}

function jsonKeeper(make: MakeAgent): Keeper {
  let kept: string | undefined;
  return textKeeper(make, { read: () => kept, write: (text) => (kept = text), end: () => undefined });
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'stepline-week-'));

function fileKeeper(make: MakeAgent): Keeper {
  const folder = newFolder();
  const path = join(folder, 'state.json');
  let isThere = false;
  return textKeeper(make, {
    read: () => (isThere ? readFileSync(path, 'utf8') : undefined),
    write: (text) => {
      writeFileSync(path, text);
      isThere = true;
    },
    end: () => rmSync(folder, { recursive: true, force: true }),
  });
}

const by = { id: 'ann', kind: 'user' };

async function sendRequest(runtime: EmbeddedRuntime, request: Request): Promise<void> {
  switch (request.type) {
    case 'send':
      await runtime.send('s', request.text, { by });
      return;
    case 'approve':
      for (const wait of (await runtime.get('s')).waitingFor) await runtime.approve('s', wait, { by });
      return;
    case 'grant':
      await runtime.grant('s', request.amounts, { by });
      return;
    case 'go-on':
      // What was interrupted goes on by itself.
      await runtime.resume('s', { by });
      return;
  }
}

function sqliteKeeper(make: MakeAgent): Keeper {
  const folder = newFolder();
  const desk = createDesk();
  let isMade = false;
  const inRuntime = async <Value>(work: (runtime: EmbeddedRuntime) => Promise<Value>): Promise<Value> => {
    const store = sqliteStore({ path: join(folder, 'sessions.db') });
    const runtime = createSessionRuntime({ ...newProcess, agents: [make(desk)], store, clock: desk.clock, ids: desk.ids });
    try {
      return await work(runtime);
    } finally {
      await runtime.drain();
      await store.close();
    }
  };
  // Reading must not go on with what was put away: it asks the store alone.
  const read = async (): Promise<AgentState> => {
    const store = sqliteStore({ path: join(folder, 'sessions.db') });
    const { states } = make(desk);
    const stored = await store.log.load('s');
    await store.close();
    const sent: JsonObject[] = [];
    return (stored?.entries ?? []).reduce((state, { body }) => {
      // Holds: this is what the log of a session is written as.
      const { state: whole, change, action } = JSON.parse(body) as EntryBody;
      if (action?.type === 'send') sent.push(action.message);
      if (whole !== undefined) return typeof whole === 'string' ? states.parse(whole) : states.decode(whole);
      return change === undefined ? state : states.patch(state, change, sent);
    }, states.empty());
  };
  const perform: Keeper['perform'] = async (request, leaveAfter) => {
    await inRuntime(async (runtime) => {
      if (!isMade) await runtime.create({ id: 's' }, { by });
      isMade = true;
      desk.onAsked = (step) => void (step === leaveAfter && runtime.drain());
      await sendRequest(runtime, request).catch((error: unknown) => {
        if (!(error instanceof RuntimeClosedError)) throw error;
      });
    });
    return read();
  };
  return { desk, perform, read, end: () => rmSync(folder, { recursive: true, force: true }) };
}

/** All ways, by name. */
export const keepers: readonly (readonly [string, (make: MakeAgent) => Keeper])[] = [
  ['JSON', jsonKeeper],
  ['a file', fileKeeper],
  ['SQLite', sqliteKeeper],
];
