// A session in each situation that the table of actions knows, with a worker that runs it and a client that asks the worker.
import { DatabaseSync } from 'node:sqlite';
import type { Chat } from '../../src/chat/index.ts';
import { createChat, humanParticipant, llmParticipant } from '../../src/chat/index.ts';
import type { Agent } from '../../src/entry/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionStore, SessionWait } from '../../src/sessions/index.ts';
import type { ActionAnswer, ActionType, SessionCondition } from '../../src/sessions/core/action-table.ts';
import { actionTable } from '../../src/sessions/core/action-table.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { Place, Stage } from './stage.ts';
import { ann, bob, sqlitePlace, stageOn, until } from './stage.ts';

/** A session in a situation. */
export interface ReachedSession {
  readonly id: string;
  readonly stage: Stage;
  readonly place: Place;
  readonly agents: readonly (Agent | Chat)[];
  readonly worker: EmbeddedRuntime;
  readonly client: EmbeddedRuntime;
  readonly store: SessionStore;
  /** The wait to answer; one that nobody asked for if the session waits for nothing. */
  readonly wait: Pick<SessionWait, 'id' | 'digest' | 'sessionId'>;
  /** A message to erase; one that is not there if nobody has spoken. */
  readonly messageId: string;
  /** Lets a run that is held up go on. */
  readonly release: () => Promise<void>;
  /** Another worker, as after a restart. */
  readonly restartWorker: () => EmbeddedRuntime;
  readonly startClient: () => EmbeddedRuntime;
}

const down = { type: 'model', code: 'http-503', message: 'no capacity', retryable: true } as const;
const refused = { type: 'model', code: 'http-400', message: 'no such model', retryable: false } as const;

/** Answers with an error to the first message, and with words to the others. */
const createFailingModel = (error: typeof down | typeof refused) =>
  scriptedModel([({ messages }) => (messages.findLast((message) => message.isUser())?.text === 'first' ? { error } : { text: 'Done.' })], {
    repeatLast: true,
  });

function createAgents(stage: Stage): readonly (Agent | Chat)[] {
  const { clock, ids, model } = stage;
  const ports = { clock, ids, onProblem: (problem: unknown) => void stage.problems.push(problem) };
  return [
    stage.agent(),
    stage.agent({ id: 'short', limits: { steps: 1, onLimit: 'pause' } }),
    stage.agent({ id: 'capped', limits: { steps: 1 } }),
    stage.agent({ id: 'careful', onUnknown: 'ask' }),
    createAgent({ id: 'down', model: createFailingModel(down), ports }),
    createAgent({ id: 'failing', model: createFailingModel(refused), ports }),
    createChat({
      id: 'room',
      participants: [llmParticipant({ name: 'clerk', model }), humanParticipant({ name: 'boss', prompt: 'Well?' })],
      ports,
    }),
  ];
}

interface Way {
  readonly agent?: string;
  /** First message; none if nobody has spoken. */
  readonly order?: string;
  /** Done after the first message was accepted. */
  readonly then?: (stage: Stage, worker: EmbeddedRuntime) => Promise<unknown>;
  readonly isHeld?: boolean;
  /** Options of a second worker that takes over in the middle. */
  readonly restart?: Partial<SessionRuntimeOptions>;
}

const whenSlow = ({ gate }: Stage): Promise<void> => gate.current.reached;

const ways = {
  new: {},
  completed: { order: 'say Hello' },
  stopped: { agent: 'capped', order: 'look 1; look 2' },
  failed: { agent: 'failing', order: 'first' },
  running: { order: 'slow 1', then: whenSlow },
  held: { order: 'say Hello', isHeld: true },
  approval: { order: 'pay 5' },
  'client-tool': { order: 'ask 5' },
  'unknown-call': { agent: 'careful', order: 'slow 3', then: whenSlow, restart: {} },
  person: { agent: 'room', order: 'say Hello' },
  provider: { agent: 'down', order: 'first' },
  grant: { agent: 'short', order: 'look 1; look 2' },
  'crash-loop': { order: 'slow 2', then: whenSlow, restart: { maxRecoveries: 0 } },
} as const satisfies Readonly<Record<string, Way>>;

/** A situation of a session, and what the table calls it. */
export type Situation = keyof typeof ways | 'unknown' | 'deleted' | 'damaged';

export const situations: Readonly<Record<Situation, SessionCondition>> = {
  ...{ unknown: 'unknown', deleted: 'deleted', damaged: 'damaged' },
  ...{ new: 'new', completed: 'ended', stopped: 'ended', failed: 'ended', running: 'running', held: 'running' },
  ...{ approval: 'approval', 'client-tool': 'client-tool', 'unknown-call': 'unknown-call', person: 'person' },
  ...{ provider: 'provider', grant: 'grant', 'crash-loop': 'crash-loop' },
};

// Holds: these are its keys.
export const situationNames = Object.keys(situations) as readonly Situation[];

// Holds: these are its keys.
export const actionTypes = Object.keys(actionTable) as readonly ActionType[];

/** The cells of the table for these actions: a situation, an action, its answer. */
export const listCells = (types: readonly ActionType[]): readonly (readonly [Situation, ActionType, ActionAnswer])[] =>
  situationNames.flatMap((situation) => types.map((type) => [situation, type, actionTable[type][situations[situation]]] as const));

export const isRefusal = (answer: ActionAnswer): boolean => answer !== 'applied' && answer !== 'queued' && answer !== 'ignored';

const isUp = (situation: Situation): situation is keyof typeof ways => Object.hasOwn(ways, situation);

const id = 's';

async function reachUp({
  stage,
  worker,
  way,
}: {
  readonly stage: Stage;
  readonly worker: EmbeddedRuntime;
  readonly way: Way;
}): Promise<void> {
  await worker.create({ id, agent: way.agent ?? 'desk', tenant: 'north', owner: 'ann' }, { by: ann });
  if (way.isHeld === true) await worker.hold({}, 'maintenance', { by: bob });
  if (way.order === undefined) return;
  await worker.send(id, way.order, { by: ann, requestId: 'first', until: 'accepted' });
  if (way.then !== undefined) await way.then(stage, worker);
}

/** Waits until nothing moves any more, with the clock running on while a provider is down. */
async function settle(stage: Stage, runtime: EmbeddedRuntime, way: Way): Promise<void> {
  if (way.order === undefined || way.isHeld === true || (way.then !== undefined && way.restart === undefined)) return;
  for (let tries = 0; way.agent === 'down' && tries < 100 && (await runtime.get(id)).status !== 'waiting'; tries += 1)
    await stage.clock.advance(10_000);
  await until(async () => {
    if ((await runtime.get(id)).status === 'in_progress') throw new Error('it still runs');
  });
}

/** A session in this situation. */
export async function reach(situation: Situation): Promise<ReachedSession> {
  const place: Place = situation === 'damaged' ? sqlitePlace() : createMemoryPlace();
  const stage = stageOn(place);
  const agents = createAgents(stage);
  const restartWorker = (more: Partial<SessionRuntimeOptions> = {}): EmbeddedRuntime =>
    stage.start({ agents, onOutage: 'park', role: 'worker', ...more });
  const startClient = (): EmbeddedRuntime => stage.start({ agents, role: 'client' });
  const store = place.open();
  let worker = restartWorker();
  if (isUp(situation)) {
    const way: Way = ways[situation];
    await reachUp({ stage, worker, way });
    if (way.restart !== undefined) {
      worker = restartWorker(way.restart);
      await worker.ready;
    }
    await settle(stage, worker, way);
  } else if (situation === 'damaged') {
    await reachUp({ stage, worker, way: ways.completed });
    await settle(stage, worker, ways.completed);
    await worker.drain();
    const raw = new DatabaseSync(place.path ?? '');
    raw.exec(`UPDATE log SET body = '{}' WHERE n = 2`);
    raw.close();
    worker = restartWorker();
    await worker.ready;
  } else if (situation === 'deleted') {
    await worker.create({ id, agent: 'desk' }, { by: ann });
    await worker.delete(id, { by: ann });
  }
  const shown = isUp(situation) ? await worker.get(id) : undefined;
  const messageId = shown?.state.messages.at(0)?.id ?? 'none';
  const wait = shown?.waitingFor[0] ?? { id: 'never-asked', sessionId: id, digest: 'd'.repeat(64) };
  return {
    ...{ id, stage, place, agents, worker, store, wait, messageId, restartWorker, startClient, client: startClient() },
    release: async () => {
      stage.gate.current.open();
      for (const hold of await worker.holds()) await worker.release(hold.id);
    },
  };
}

/** Does each action, as people would: to what the session waits for. */
export const deeds: Readonly<
  Record<ActionType, (runtime: EmbeddedRuntime, session: ReachedSession, requestId: string) => Promise<unknown>>
> = {
  create: (runtime, _, requestId) => runtime.create({ id, agent: 'desk' }, { by: bob, requestId, until: 'accepted' }),
  send: (runtime, _, requestId) => runtime.send(id, 'say More', { by: bob, requestId, until: 'accepted' }),
  approve: (runtime, { wait }, requestId) => runtime.approve(id, wait, { by: bob, requestId, until: 'accepted' }),
  reject: (runtime, { wait }, requestId) => runtime.reject(id, wait, { by: bob, requestId, until: 'accepted' }),
  answer: (runtime, { wait }, requestId) => runtime.answer(id, wait, { by: bob, requestId, value: 'blue', until: 'accepted' }),
  grant: (runtime, _, requestId) => runtime.grant(id, { steps: 5 }, { by: bob, requestId, until: 'accepted' }),
  cancel: (runtime, _, requestId) => runtime.cancel(id, 'enough', { by: bob, requestId, until: 'accepted' }),
  resume: (runtime, _, requestId) => runtime.resume(id, { by: bob, requestId, until: 'accepted' }),
  // No approval was given: a session that does not refuse says so.
  revoke: (runtime, _, requestId) => runtime.revokeApproval(id, 'none', { by: bob, requestId, until: 'accepted' }),
  erase: (runtime, { messageId }, requestId) => runtime.eraseMessage(id, messageId, { by: bob, requestId, until: 'accepted' }),
  fork: (runtime, _, requestId) => runtime.fork(id, { execution: 1, step: 0 }, { by: bob, requestId, until: 'accepted', id: 'fork' }),
  delete: (runtime, _, requestId) => runtime.delete(id, { by: bob, requestId, until: 'accepted' }),
};
