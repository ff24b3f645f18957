// What the tests of sessions have in common: an agent that does what the user says, and places that outlive a process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import type { ScriptedAnswer, ScriptedModel } from '../../src/testing/index.ts';
import type { AgentOptions, Agent, Tool } from '../../src/entry/index.ts';
import type { ModelRequest } from '../../src/inference/index.ts';
import { createAgent, defineClientTool, defineTool, SteplineError } from '../../src/entry/index.ts';
import type { FakeClock, IdSource } from '../../src/lib/index.ts';
import type {
  Action,
  LogEntry,
  EmbeddedRuntime,
  SessionRuntimeOptions,
  SessionStore,
  SessionWait,
  SessionWrite,
  StoredEvent,
  StoredSession,
} from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';

/** Options of a runtime that stands for a new process: every other one counts as gone, and an abandoned one gives no sign of life. */
export const newProcess = {
  silenceMs: 0,
  // A new clock for each process: a clock that all share keeps every abandoned runtime by its timer.
  get heartbeatClock() {
    return createFakeClock();
  },
} as const;

export const ann = { id: 'ann', kind: 'user' } as const;
export const bob = { id: 'bob', kind: 'staff' } as const;

/** Something that stores are opened on, again and again. */
export interface Place {
  readonly open: () => SessionStore;
  /** The file, if there is one. */
  readonly path?: string;
}

/** The path of a database in a new folder, which goes when the test ends. */
export function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-sessions-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return join(folder, 'sessions.db');
}

/** A place whose stores are closed when the test ends. */
export function sqlitePlace(path: string = newPath()): Place {
  const open = (): SessionStore => {
    const store = sqliteStore({ path });
    onTestFinished(() => store.close().catch(() => undefined));
    return store;
  };
  return { open, path };
}

export const places: readonly (readonly [string, () => Place])[] = [
  ['memory', createMemoryPlace],
  ['SQLite', () => sqlitePlace()],
];

/** `pay 5 & look 1` is two calls of one step; `;` parts steps; `say Hello` ends with words. Everything else is repeated. */
function answerTo(words: string, step: number, messages: number): ScriptedAnswer {
  const usage = { input: 10, output: 5 };
  const order = words.split(';')[step]?.trim() ?? 'say Done.';
  if (!/^(?:pay|look|note|slow|ask|broken|spawn_subagent)\b/.test(order)) return { text: order.replace(/^say /, '') || 'Yes?', usage };
  const toolCalls = order.split('&').map((call, index) => {
    const [name = '', value = '0'] = call.trim().split(' ');
    const id = `c${messages}-${index}`;
    if (name === 'spawn_subagent') return { name, id, args: { subagent: 'helper', prompt: call.trim().split(' ').slice(1).join(' ') } };
    return { name, id, args: { amount: Number(value) } };
  });
  return { toolCalls, usage };
}

/** Does what the last words of the user say, whoever asks it and how often: it counts by what it reads. */
export function obedientModel(): ScriptedModel {
  const answer = ({ messages }: ModelRequest): ScriptedAnswer => {
    const last = messages.findLastIndex((message) => message.isUser());
    const done = messages.slice(last + 1).filter((message) => message.isAssistant()).length;
    return answerTo(messages[last]?.text ?? '', done, messages.length);
  };
  return scriptedModel([answer], { repeatLast: true });
}

/** A door that work waits at. */
export interface Gate {
  readonly passed: Promise<void>;
  readonly reached: Promise<void>;
  readonly reach: () => void;
  readonly open: () => void;
}

/** A promise, and what fulfils it. */
function fulfillable(): readonly [Promise<void>, () => void] {
  let fulfil = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    fulfil = resolve;
  });
  return [promise, fulfil];
}

export function createGate(): Gate {
  const [passed, open] = fulfillable();
  const [reached, reach] = fulfillable();
  return { passed, open, reached, reach };
}

const input = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;

type MoreOfAgent = Partial<Omit<AgentOptions, 'model' | 'tools'>> & { readonly tools?: readonly Tool[] };

export interface Stage {
  readonly place: Place;
  readonly clock: FakeClock;
  readonly ids: IdSource;
  readonly model: ScriptedModel;
  /** Calls of the tools, in order. */
  readonly ran: string[];
  readonly keys: string[];
  readonly problems: unknown[];
  /** Gate at which the tool `slow` waits. */
  readonly gate: { current: Gate };
  readonly tools: ReturnType<typeof setUpTools>;
  readonly agent: (more?: MoreOfAgent) => Agent;
  /** Another runtime on the same place, as after a restart. */
  readonly start: (more?: Partial<SessionRuntimeOptions>) => EmbeddedRuntime;
}

function setUpTools(stage: Pick<Stage, 'ran' | 'keys' | 'gate'>) {
  const note = (name: string, amount: number, key: string): string => {
    stage.ran.push(`${name} ${amount}`);
    stage.keys.push(key);
    return `${name} done`;
  };
  return {
    look: defineTool({
      name: 'look',
      description: 'Looks.',
      input,
      effect: 'pure',
      run: ({ amount }, { idempotencyKey }) => note('look', amount, idempotencyKey),
    }),
    note: defineTool({
      name: 'note',
      description: 'Notes.',
      input,
      run: ({ amount }, { idempotencyKey }) => note('note', amount, idempotencyKey),
    }),
    pay: defineTool({
      name: 'pay',
      description: 'Pays.',
      input,
      needsApproval: true,
      run: ({ amount }, { idempotencyKey }) => note('pay', amount, idempotencyKey),
    }),
    slow: defineTool({
      name: 'slow',
      description: 'Takes its time.',
      input,
      run: async ({ amount }, { idempotencyKey }) => {
        const { current } = stage.gate;
        current.reach();
        await current.passed;
        return note('slow', amount, idempotencyKey);
      },
    }),
    broken: defineTool({
      name: 'broken',
      description: 'Fails.',
      input,
      run: () => {
        throw new Error('out of order');
      },
    }),
    ask: defineClientTool({ name: 'ask', description: 'Asks the client.', input }),
  };
}

export function stageOn(place: Place): Stage {
  const clock = createFakeClock();
  const ids = createCountingIds();
  const model = obedientModel();
  const parts = { ran: [], keys: [], gate: { current: createGate() } };
  const problems: unknown[] = [];
  const onProblem = (problem: unknown): void => {
    problems.push(problem);
  };
  const tools = setUpTools(parts);
  const agent = ({ tools: own = Object.values(tools), ...more }: MoreOfAgent = {}): Agent =>
    createAgent({ id: 'desk', model, tools: own, ports: { clock, ids, onProblem }, ...more });
  const start = (more: Partial<SessionRuntimeOptions> = {}): EmbeddedRuntime =>
    createSessionRuntime({ ...newProcess, agents: [agent()], store: place.open(), clock, ids, onProblem, ...more });
  return { place, clock, ids, model, problems, tools, agent, start, ...parts };
}

/** All that is stored, to be compared. */
export async function dump(store: SessionStore): Promise<unknown> {
  const { sessions } = await store.heads.list({ limit: 1000 });
  const all = sessions.map(async ({ id, damage }) => {
    const stored = await store.log.load(id).catch((error: unknown) => String(error));
    const entries = await store.log.entries(id).catch((error: unknown) => String(error));
    return { id, damage, stored, entries };
  });
  return Promise.all(all);
}

/** Changes a session that nobody owns, past every runtime. */
export async function changeStored(
  store: SessionStore,
  sessionId: string,
  change: (stored: StoredSession) => Pick<SessionWrite, 'header' | 'rewrites'>,
): Promise<void> {
  const stored = await store.log.load(sessionId);
  if (stored === undefined) throw new Error(`There is no session ${sessionId}.`);
  const lease = { worker: 'somebody', fence: stored.fence, type: 'free' } as const;
  await store.log.write({ sessionId, lease, keepsLease: false, after: stored.head, ...change(stored) });
}

/** Actions in the log. */
export async function readActions(store: SessionStore, sessionId: string): Promise<readonly Action[]> {
  const entries: readonly LogEntry[] = await store.log.entries(sessionId);
  // Holds: that is what the runtime writes.
  return entries.flatMap(({ body }) => (JSON.parse(body) as { readonly action?: Action }).action ?? []);
}

export async function readEvents(runtime: EmbeddedRuntime, sessionId: string, fromSeq = 0): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of runtime.events(sessionId, { fromSeq })) events.push(event);
  return events;
}

/** The wait with this tool; the only one if none is named. */
export async function getWait(runtime: EmbeddedRuntime, sessionId: string, id?: string): Promise<SessionWait> {
  const { waitingFor } = await runtime.get(sessionId);
  const found = waitingFor.filter((wait) => id === undefined || wait.id === id);
  expect(found).toHaveLength(1);
  // Holds: it was just counted.
  return found[0] as SessionWait;
}

/** Returns the error of a rejected promise, which must have this code. */
export async function refusal(work: Promise<unknown>, code: string): Promise<SteplineError> {
  const [settled] = await Promise.allSettled([work]);
  if (settled.status === 'fulfilled') throw new Error(`It was not refused, though ${code} was due: ${JSON.stringify(settled.value)}`);
  const error: unknown = settled.reason;
  if (!SteplineError.is(error)) throw new Error(`It was refused with no error of this package: ${String(error)}`);
  expect([error.code, error.message]).toStrictEqual([code, error.message]);
  return error;
}

/** Waits until something holds that no promise tells of. */
export const until = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { interval: 1, timeout: 1000 });

/** Tool results that the model read last. */
export const resultsRead = ({ calls }: ScriptedModel): readonly unknown[] =>
  (calls.at(-1)?.messages ?? []).flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
