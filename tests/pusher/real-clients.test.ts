// The real clients of the protocol, against the embedded server: sessions that a broadcaster mirrors, and channels that a site authorizes.
import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/broadcasting/index.ts';
import { toChannelName } from '../../src/broadcasting/pusher/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { ann, eve } from '../http/stage.ts';
import { authorizedBy, openClient, openEcho, openMirroredSite, startServer, until } from './stage.ts';

const by = { id: 'ann', kind: 'user' };

const look = defineTool({ name: 'look', description: 'Looks.', input: { type: 'object' } as const, run: () => 'seen' });

/** An agent that writes text, calls a tool, and writes again. */
function createDesk() {
  const model = scriptedModel(
    [
      ({ messages }) =>
        messages.at(-1)?.isTool() === true
          ? { chunks: ['I ', 'have ', 'looked.'] }
          : { chunks: ['Let ', 'me ', 'look.'], toolCalls: [{ name: 'look' }] },
    ],
    { repeatLast: true },
  );
  return createAgent({ id: 'desk', tools: { look }, model });
}

/** Keeps the envelopes that a client receives, by session. */
class Inbox {
  readonly #envelopes = new Map<string, Envelope[]>();

  readonly receive = (_event: string, data: unknown): void => {
    if (typeof data !== 'object' || data === null || !('session_id' in data)) return;
    // Holds: only envelopes are published in these tests.
    const envelope = data as Envelope;
    this.#envelopes.set(envelope.session_id, [...this.read(envelope.session_id), envelope]);
  };

  read(sessionId: string): readonly Envelope[] {
    return this.#envelopes.get(sessionId) ?? [];
  }
}

describe('pusher-js and laravel-echo', () => {
  it('receive every envelope of 20 runs, in order', async () => {
    const server = await startServer();
    const published: string[] = [];
    // The requests themselves say what was published.
    const watch = (url: string, init: RequestInit): Promise<Response> => {
      const { batch } = JSON.parse(init.body as string) as { readonly batch: readonly { readonly data: string }[] };
      published.push(...batch.map(({ data }) => data));
      return globalThis.fetch(url, init);
    };
    const site = await openMirroredSite({
      agents: [createDesk()],
      url: server.url,
      broadcaster: { fetch: watch },
    });
    const [pusher, echo] = [openClient(server, authorizedBy(site, ann)), openEcho(server, site, ann)];
    const [byPusher, byEcho] = [new Inbox(), new Inbox()];
    const ids = Array.from({ length: 20 }, (_, index) => `run.${index}`);
    let subscriptions = 0;
    for (const id of ids) {
      await site.runtime.create({ id, tenant: 'north', owner: 'ann' }, { by });
      const channel = pusher.subscribe(toChannelName(id));
      channel.bind('pusher:subscription_succeeded', () => (subscriptions += 1));
      channel.bind_global(byPusher.receive);
      const heard = echo.private(toChannelName(id).slice('private-'.length));
      heard.subscribed(() => (subscriptions += 1)).listenToAll(byEcho.receive);
    }
    await until(() => expect(subscriptions).toBe(40));
    await Promise.all(ids.map((id) => site.runtime.send(id, 'Look.', { by })));
    expect(await site.reverb.flush()).toBe(true);
    const sent = published.map((text) => JSON.parse(text) as Envelope);
    for (const id of ids) {
      const expected = sent.filter(({ session_id }) => session_id === id);
      expect(expected.map(({ event }) => event)).toEqual(expect.arrayContaining(['agent.stream.chunk', 'agent.tool.completed']));
      await until(() => expect(byPusher.read(id)).toEqual(expected));
      await until(() => expect(byEcho.read(id)).toEqual(expected));
      const numbers = expected.flatMap((envelope) => ('seq' in envelope ? [envelope.seq] : []));
      expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    }
    expect(sent).toHaveLength(site.reverb.stats.published);
    expect(site.problems).toEqual([]);
  });

  it('receive large texts in pieces, in requests of at most 9,000 bytes as the server counts them', async () => {
    const server = await startServer({ maxRequestBytes: 9_000 });
    const text = '"ä"\n'.repeat(5_000);
    const agent = createAgent({ id: 'desk', model: scriptedModel([{ chunks: [text] }]) });
    const site = await openMirroredSite({ agents: [agent], url: server.url });
    await site.runtime.create({ id: 'one', tenant: 'north', owner: 'ann' }, { by });
    const channel = openClient(server, authorizedBy(site, ann)).subscribe(toChannelName('one'));
    const inbox = new Inbox();
    channel.bind_global(inbox.receive);
    await until(() => expect(channel.subscribed).toBe(true));
    await site.runtime.send('one', text, { by });
    expect(await site.reverb.flush()).toBe(true);
    await until(() => expect(inbox.read('one').at(-1)?.event).toBe('agent.head'));
    const chunks = inbox.read('one').filter(({ event }) => event === 'agent.stream.chunk');
    expect(chunks.map(({ data }) => ('text' in data ? (data['text'] as string) : '')).join('')).toBe(text);
    const messages = inbox.read('one').filter(({ event }) => event === 'agent.message');
    expect(messages).toMatchObject([
      { data: { role: 'user', cut: ['text'], ref: { session_id: 'one' } } },
      { data: { role: 'assistant', cut: ['text'], ref: { session_id: 'one' } } },
    ]);
    expect([site.problems, site.reverb.stats.droppedEvents]).toEqual([[], 0]);
  });

  it('are told by the site that a channel is not for them', async () => {
    const server = await startServer();
    const site = await openMirroredSite({ agents: [createDesk()], url: server.url });
    await site.runtime.create({ id: 'one', tenant: 'north', owner: 'ann' }, { by });
    const client = openClient(server, authorizedBy(site, eve));
    const refusals: unknown[] = [];
    for (const name of [toChannelName('one'), toChannelName('unknown'), 'private-other.one'])
      client.subscribe(name).bind('pusher:subscription_error', (error: unknown) => refusals.push(error));
    await until(() => expect(refusals).toHaveLength(3));
    expect(refusals).toMatchObject([{ status: 404 }, { status: 404 }, { status: 404 }]);
  });
});
