// Sessions that leave traces wherever something is stored of them, for the tests that look for what is left after a deletion.
import { expect } from 'vitest';
import { subAgents } from '../../src/entry/capabilities.ts';
import { createAgent, Message } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SendEvents } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { createFakeClock } from '../../src/testing/index.ts';
import { chatStageOn } from './chat-stage.ts';
import type { Place } from './stage.ts';
import { getWait } from './stage.ts';

/** A word that is in everything that belongs to the person: ids, names, texts, what a receiver says of them. */
export const secret = 'walnut-otter';
const by = { id: `${secret}-ann`, kind: 'user', name: `${secret} Ann` };
const owner = `${secret}-owner`;
const image = Buffer.from(secret.repeat(3)).toString('base64');

/** Words to look for. */
export const traces: readonly string[] = [secret, image];

const until = (check: () => unknown): Promise<unknown> => expect.poll(check, { timeout: 10_000, interval: 5 }).toBe(true);

export interface Traces {
  readonly runtime: EmbeddedRuntime;
  readonly client: EmbeddedRuntime;
  /** Ids of the sessions. */
  readonly ids: readonly string[];
  readonly by: typeof by;
  readonly owner: string;
  /** Lets everything happen that is still to come: work that goes on, deliveries that are tried again, the end of the processes. */
  readonly settle: () => Promise<void>;
}

/** Has sessions of every kind: ended, waiting, running, of a chat, with a sub-agent, forked, behind in a delivery, with dead letters. */
export async function leaveTraces(place: Place): Promise<Traces> {
  const stage = chatStageOn(place);
  const { clock, gate, problems } = stage;
  const ports = { clock, ids: stage.ids };
  const helper = { agent: stage.agent({ id: 'helper' }), description: 'Helps.' };
  const top = createAgent({ id: 'top', model: stage.model, ports, capabilities: [subAgents({ agents: { helper } })] });
  const agents = [stage.agent(), top, stage.chat()];
  const heartbeatClock = createFakeClock();
  const runtime = stage.start({ agents, heartbeatClock });
  await runtime.ready;
  const onProblem = (problem: unknown): void => void problems.push(problem);
  const client = createSessionRuntime({ agents, store: place.open(), role: 'client', clock, onProblem });
  const ids: string[] = [];
  const create = async (name: string, agent = 'desk'): Promise<string> => {
    const id = `${secret}-${name}`;
    ids.push(id);
    await runtime.create({ id, agent, tenant: `${secret}-tenant`, owner, tags: [`${secret}-tag`] }, { by, requestId: `${secret}-${name}` });
    return id;
  };
  const refuse: SendEvents = ({ sessionId }) => Promise.reject(new Error(`${secret}: no receiver for ${sessionId}`));
  runtime.deliver('dead', refuse, { maxAttempts: 1, concurrency: 1 });
  runtime.deliver('behind', refuse, { maxAttempts: 1000 });

  const ended = await create('ended');
  const parts = [
    { type: 'text', text: `look 1; broken 2; say I am ${secret}.` },
    { type: 'file', data: image, mediaType: 'image/png', filename: `${secret}.png` },
  ] as const;
  await runtime.send(ended, Message.user(parts, { metadata: { address: secret } }), { by, requestId: `${secret}-send` });
  ids.push((await runtime.fork(ended, { execution: 1, step: 1 }, { by, id: `${secret}-fork` })).id);
  const waiting = await create('waiting');
  await client.send(waiting, `pay 5; say ${secret}`, { by, requestId: `${secret}-ask` });
  await client.send(waiting, `say ${secret} later`, { by, whileWaiting: 'queue', until: 'accepted' });
  const helped = await create('helped', 'top');
  await runtime.send(helped, `spawn_subagent pay 5 ${secret}`, { by });
  const talk = await create('talk', 'room');
  await runtime.send(talk, `say Hello ${secret}`, { by });
  await runtime.answer(talk, await getWait(runtime, talk), { by, value: `I am ${secret}` });
  const running = await create('running', 'top');
  const run = runtime.send(running, `spawn_subagent slow 2 ${secret}`, { by }).catch(() => undefined);
  await gate.current.reached;
  await runtime.send(running, `say ${secret} too`, { by, until: 'accepted' });

  // A fork has no events of its own yet.
  const told = ids.length - 1;
  await until(async () => new Set((await runtime.deadLetters('dead')).map(({ sessionId }) => sessionId)).size === told);
  const store = place.open();
  await until(async () => {
    await heartbeatClock.advance(2000);
    const notes = JSON.stringify(await store.notes.list({ prefix: 'delivery/behind/', limit: 100 }));
    return ids.filter((id) => notes.includes(id)).length === told;
  });
  const [letter] = await runtime.deadLetters('dead');
  // The wish to send it again is stored, and nobody has seen it yet.
  await client.retryDeadLetter('dead', letter?.id ?? '');
  const settle = async (): Promise<void> => {
    gate.current.open();
    await run;
    await clock.advance(3_600_000);
    await heartbeatClock.advance(4000);
    await client.drain();
    await runtime.drain();
  };
  return { runtime, client, ids, by, owner, settle };
}

/** Ways to delete all of these sessions. */
export const deletions: Readonly<Record<string, (traces: Traces) => Promise<unknown>>> = {
  'deleteAll() by owner': ({ runtime, by, owner }) => runtime.deleteAll({ owner }, { by }),
  'deleteAll() by owner, asked for by a client': ({ client, by, owner }) => client.deleteAll({ owner }, { by }),
  'deleteAll() of what has not changed for a while': ({ runtime, by }) =>
    runtime.deleteAll({ updatedBefore: Number.MAX_SAFE_INTEGER }, { by }),
  'delete() of each': async ({ runtime, ids, by }) => {
    for (const id of ids) await runtime.delete(id, { by });
  },
};
