// A client of the ten-step run that outlives the process it talks to: after each death it asks again, with the same request ids.
import type { EffectRow } from '../../src/journal/index.ts';
import type { Session, EmbeddedRuntime, SessionStore, SessionWait, StoredEvent } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import type { BaseEvent } from '../../src/entry/index.ts';
import { SteplineError } from '../../src/entry/index.ts';
import type { Mortality } from './mortal-process.ts';
import { mortalStore, outOfOrder } from './mortal-process.ts';
import type { World } from './ten-steps.ts';
import { tenStepAgent } from './ten-steps.ts';
import { newProcess } from './stage.ts';

const by = { id: 'ann', kind: 'user' };
export const sessionId = 's';

/** Everything that a run left behind. */
export interface Lived {
  readonly session: Session;
  readonly events: readonly StoredEvent[];
  /** Live events of each process before it died. */
  readonly told: readonly (readonly BaseEvent[])[];
  /** The effects that were begun and had no result, each time the session was read to go on with it. */
  readonly open: readonly (readonly string[])[];
  readonly actions: readonly string[];
  readonly world: World;
}

interface Memory {
  wait?: SessionWait | undefined;
}

const hasCode = (error: unknown, code: string): boolean => SteplineError.is(error) && error.code === code;

async function askOnce(runtime: EmbeddedRuntime, memory: Memory): Promise<void> {
  await runtime.create({ id: sessionId }, { by }).catch((error: unknown) => {
    if (!hasCode(error, 'session-conflict')) throw error;
  });
  const turn = await runtime.send(sessionId, 'Do all of it.', { by, requestId: 'go' });
  memory.wait ??= turn.waitingFor[0];
  if (memory.wait === undefined) throw new Error(`nothing to approve: ${turn.explain()}`);
  await runtime.approve(sessionId, memory.wait, { by, requestId: 'yes' });
}

const openKeys = (rows: readonly EffectRow[]): readonly string[] => {
  const results = new Set(rows.filter(({ phase }) => phase === 'result').map(({ key }) => key));
  return rows.filter(({ phase, key }) => phase === 'intent' && !results.has(key)).map(({ key }) => key);
};

const isOutOfOrder = (error: unknown): boolean => error instanceof Error && error.message.includes(outOfOrder);

/** Asks again if the store failed; the open step is resumed, as the error advises. */
async function ask(runtime: EmbeddedRuntime, memory: Memory): Promise<void> {
  for (;;) {
    try {
      await askOnce(runtime, memory);
      return;
    } catch (error) {
      if (!isOutOfOrder(error)) throw error;
      await runtime.resume(sessionId, { by });
    }
  }
}

export async function readEvents(runtime: EmbeddedRuntime, id: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of runtime.events(id)) events.push(event);
  return events;
}

/** Lives through all deaths to the end of the run. `openStore` opens it as a new process would. */
export async function live(world: World, mortality: Mortality, openStore: () => SessionStore): Promise<Lived> {
  const memory: Memory = {};
  const told: BaseEvent[][] = [];
  const open: (readonly string[])[] = [];
  const problems: unknown[] = [];
  for (;;) {
    const store = openStore();
    // Whatever a process goes on with, it has read.
    const watched: SessionStore = {
      ...store,
      log: {
        ...store.log,
        load: async (id) => {
          const stored = await store.log.load(id);
          open.push(openKeys(stored?.effects ?? []));
          return stored;
        },
      },
    };
    const process = mortality.start();
    const heard: BaseEvent[] = [];
    told.push(heard);
    const runtime = createSessionRuntime({
      ...newProcess,
      // Processes die here more often than a step is resumed by default.
      maxRecoveries: Number.POSITIVE_INFINITY,
      agents: [tenStepAgent(world, process)],
      store: mortalStore(watched, process),
      clock: world.clock,
      ids: world.ids,
      onEvent: (event) => {
        if (!process.isDead) heard.push(event);
      },
      onProblem: (error) => {
        if (!isOutOfOrder(error)) problems.push(error);
      },
    });
    const end = await Promise.race([ask(runtime, memory).then(() => 'done' as const), process.died]);
    if (problems.length > 0) throw problems[0];
    const session = end === 'done' ? await Promise.race([runtime.get(sessionId), process.died]) : end;
    const events = session === 'died' ? session : await Promise.race([readEvents(runtime, sessionId), process.died]);
    if (session === 'died' || events === 'died') continue;
    const actions = (await store.log.entries(sessionId)).flatMap(
      ({ body }) => (JSON.parse(body) as { readonly action?: { readonly type: string } }).action?.type ?? [],
    );
    return { session, events, told, open, actions, world };
  }
}
