import { createHmac } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FakeClock } from '../../lib/index.ts';
import { createFakeClock } from '../../lib/index.ts';
import type { Envelope, EventEnvelope } from '../index.ts';
import type { PusherTransport, PusherTransportOptions } from './pusher-transport.ts';
import { createPusherTransport } from './pusher-transport.ts';

const app = { appId: '7', key: 'key', secret: 'secret', url: 'http://reverb.test:8080' };

const toEnvelope = (sessionId: string, seq: number | undefined, text = 'Hello.'): EventEnvelope => ({
  event: seq === undefined ? 'agent.stream.chunk' : 'agent.message',
  timestamp: '2026-01-01T00:00:00.000Z',
  agent_id: 'desk',
  session_id: sessionId,
  execution_id: `${sessionId}/1`,
  orchestrator: 'agent',
  part: 1,
  ...(seq !== undefined && { seq }),
  data: seq === undefined ? { text, step_number: 1, attempt: 1, answer: 1, offset: 0 } : { message_id: `m${seq}`, role: 'assistant', text },
});

interface Batch {
  readonly url: URL;
  readonly envelopes: readonly Envelope[];
}

type Answer = (batch: Batch) => Response | Promise<Response>;

/** A server whose answers a test decides, and a transport to it. */
function open(options: Partial<PusherTransportOptions> = {}) {
  const clock: FakeClock = createFakeClock();
  const batches: Batch[] = [];
  const problems: unknown[] = [];
  const state: { answer: Answer } = { answer: () => new Response('{}') };
  const fetch = async (address: string, init: RequestInit): Promise<Response> => {
    // Holds: the transport writes its body as text.
    const { batch } = JSON.parse(init.body as string) as { readonly batch: readonly { readonly data: string }[] };
    const found = { url: new URL(address), envelopes: batch.map(({ data }) => JSON.parse(data) as Envelope) };
    const answer = await new Promise<Response>((resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error), { once: true });
      Promise.resolve(state.answer(found)).then(resolve, reject);
    });
    if (answer.ok) batches.push(found);
    return answer;
  };
  const transport: PusherTransport = createPusherTransport({
    ...app,
    clock,
    fetch,
    random: () => 1,
    onProblem: (error) => void problems.push(error),
    ...options,
  });
  onTestFinished(() => transport.close(0));
  const getSeqs = (sessionId: string): readonly unknown[] =>
    batches
      .flatMap(({ envelopes }) => envelopes)
      .filter(({ session_id }) => session_id === sessionId)
      .map((envelope) =>
        'seq' in envelope ? envelope.seq : envelope.event === 'agent.head' ? `head ${envelope.data['seq'] as number}` : '-',
      );
  return { transport, clock, batches, problems, state, getSeqs };
}

const refuse =
  (status: number, headers = {}): Answer =>
  () =>
    new Response('{"error":"no"}', { status, headers });

describe('a transport to a server of the Pusher protocol', () => {
  it('signs its requests as the protocol says', async () => {
    const { transport, batches, clock } = open();
    transport.send('private-agent.a', [toEnvelope('a', 1)]);
    await transport.flush();
    const [{ url } = { url: new URL(app.url) }] = batches;
    expect(url.pathname).toBe('/apps/7/batch_events');
    const query = [...url.searchParams].filter(([name]) => name !== 'auth_signature');
    expect(query.map(([name]) => name)).toEqual(['auth_key', 'auth_timestamp', 'auth_version', 'body_md5']);
    expect(url.searchParams.get('auth_timestamp')).toBe(String(clock.now() / 1000));
    const signed = `POST\n/apps/7/batch_events\n${query.map((pair) => pair.join('=')).join('&')}`;
    expect(url.searchParams.get('auth_signature')).toBe(createHmac('sha256', app.secret).update(signed).digest('hex'));
  });

  it('puts what is sent at once into batches of ten, in order (U2)', async () => {
    const { transport, batches, getSeqs } = open();
    for (let seq = 1; seq <= 25; seq += 1) transport.send('private-agent.a', [toEnvelope('a', seq)]);
    expect(await transport.flush()).toBe(true);
    expect(batches.map(({ envelopes }) => envelopes.length)).toEqual([10, 10, 5]);
    expect(getSeqs('a')).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    expect(transport.stats).toMatchObject({ isReachable: true, queued: 0, queuedBytes: 0, published: 25 });
  });

  it('never waits for a server that does not answer (U1), and asks again after a while', async () => {
    const { transport, clock, state, problems, getSeqs } = open();
    state.answer = () => new Promise(() => undefined);
    for (let seq = 1; seq <= 30; seq += 1) transport.send('private-agent.a', [toEnvelope('a', seq)]);
    await clock.advance(9_000);
    expect([transport.stats.isReachable, problems]).toEqual([true, []]);
    await clock.advance(1_000);
    expect(transport.stats).toMatchObject({ isReachable: false, queued: 30 });
    expect(problems).toMatchObject([
      { code: 'publish-failed', status: 0, message: expect.stringContaining('No answer within 10000 ms') as string },
    ]);
    state.answer = () => new Response('{}');
    await clock.advance(500);
    await transport.flush();
    expect(getSeqs('a')).toHaveLength(30);
  });

  it('asks a server that fails later and later, one request at a time (U4), and reports it once', async () => {
    const { transport, clock, state, problems, getSeqs } = open();
    const asked: number[] = [];
    state.answer = (batch) => {
      asked.push(clock.monotonic());
      return refuse(503)(batch);
    };
    for (const id of ['a', 'b', 'c']) transport.send(`private-agent.${id}`, [toEnvelope(id, 1)]);
    await clock.advance(100_000);
    expect(asked.slice(0, 9)).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500, 31_500, 61_500, 91_500]);
    expect(problems).toMatchObject([{ status: 503, message: 'http://reverb.test:8080 answered with status 503: {"error":"no"}' }]);
    state.answer = () => new Response('{}');
    await clock.advance(30_000);
    expect([...getSeqs('a'), ...getSeqs('b'), ...getSeqs('c')]).toEqual([1, 1, 1]);
    expect(transport.stats.isReachable).toBe(true);
  });

  it('waits as long as the server asks for', async () => {
    const { transport, clock, state, getSeqs } = open();
    state.answer = refuse(429, { 'retry-after': '20' });
    transport.send('private-agent.a', [toEnvelope('a', 1)]);
    await clock.advance(0);
    state.answer = () => new Response('{}');
    await clock.advance(19_900);
    expect(getSeqs('a')).toEqual([]);
    await clock.advance(200);
    expect(getSeqs('a')).toEqual([1]);
  });

  it('finds the one event that a server refuses, drops it, and tells its readers that it is missing', async () => {
    const { transport, state, problems, getSeqs } = open();
    state.answer = (batch) =>
      batch.envelopes.some((envelope) => 'seq' in envelope && envelope.seq === 3) ? refuse(413)(batch) : new Response('{}');
    for (let seq = 1; seq <= 5; seq += 1) transport.send('private-agent.a', [toEnvelope('a', seq)]);
    await transport.flush();
    expect(getSeqs('a')).toEqual([1, 2, 4, 5, 'head 3']);
    expect(problems).toMatchObject([{ status: 413 }]);
    expect(transport.stats).toMatchObject({ droppedEvents: 1, isReachable: true });
  });

  it('keeps a bounded amount through an hour without the server, and then says what pages have to fetch (U5)', async () => {
    const { transport, clock, state, getSeqs } = open({ maxQueueBytes: 20_000 });
    state.answer = () => Promise.reject(new TypeError('fetch failed'));
    for (let seq = 1; seq <= 360; seq += 1) {
      const id = seq <= 20 ? 'early' : 'late';
      transport.send(`private-agent.${id}`, [toEnvelope(id, undefined), toEnvelope(id, seq)]);
      await clock.advance(10_000);
      expect(transport.stats.queuedBytes).toBeLessThanOrEqual(20_000);
    }
    const { droppedPieces, droppedEvents, queued } = transport.stats;
    expect(droppedPieces).toBe(360);
    expect(droppedEvents + queued).toBe(360);
    state.answer = () => new Response('{}');
    await clock.advance(30_000);
    const last = 360 - queued + 1;
    expect(getSeqs('late').filter((seq) => typeof seq === 'number')).toEqual(Array.from({ length: queued }, (_, index) => last + index));
    expect(getSeqs('early')).toEqual(['head 20']);
    expect(getSeqs('late')).toContain(`head ${last - 1}`);
  });

  it('never makes a request above the limit, whatever the envelopes are (U3)', async () => {
    const { transport, batches } = open();
    const large = '"ä\n'.repeat(3000);
    transport.send('private-agent.a', [toEnvelope('a', undefined, large), toEnvelope('a', 1, large), toEnvelope('a', 2)]);
    await transport.flush();
    const texts = batches.flatMap(({ envelopes }) => envelopes).filter(({ event }) => event === 'agent.stream.chunk');
    expect(texts.map(({ data }) => ('text' in data ? (data['text'] as string) : '')).join('')).toBe(large);
    for (const { url, envelopes } of batches) {
      const body = JSON.stringify({
        batch: envelopes.map((envelope) => ({ channel: 'private-agent.a', name: envelope.event, data: JSON.stringify(envelope) })),
      });
      expect(Buffer.byteLength(body) + url.href.length + 600).toBeLessThanOrEqual(9_000);
    }
  });

  it('says that a channel has a name that no server takes', async () => {
    const { transport, problems, batches } = open();
    transport.send(`private-agent.${'x'.repeat(300)}`, [toEnvelope('a', 1)]);
    await transport.flush();
    expect(batches).toEqual([]);
    expect(problems).toMatchObject([{ code: 'publish-failed', message: expect.stringContaining('too long') as string }]);
  });

  it('publishes what waits when it is closed, as far as there is time, and leaves nothing behind', async () => {
    const { transport, clock, state, getSeqs } = open();
    transport.send('private-agent.a', [toEnvelope('a', 1)]);
    await transport.flush();
    state.answer = refuse(500);
    transport.send('private-agent.a', [toEnvelope('a', 2)]);
    const closed = transport.close(1_000);
    await clock.advance(1_000);
    await closed;
    transport.send('private-agent.a', [toEnvelope('a', 3)]);
    expect(getSeqs('a')).toEqual([1]);
    expect(transport.stats).toMatchObject({ queued: 0, droppedEvents: 1 });
    expect(clock.pendingTimers()).toBe(0);
  });

  it.each([
    [{ url: 'reverb' }, 'needs the url of a server'],
    [{ appId: '' }, 'needs the id of an app'],
    [{ key: 'a key' }, 'needs the key of an app'],
    [{ secret: '' }, 'needs the secret of the app "key"'],
    [{ maxRequestBytes: 100 }, 'maxRequestBytes must be a whole number of 4000 or more, not 100'],
    [{ host: 'x' }, 'Unknown option "host"'],
  ])('refuses the options %o', (wrong, message) => {
    expect(() => createPusherTransport({ ...app, ...wrong })).toThrow(message);
  });
});
