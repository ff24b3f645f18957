// A receiver on a real socket that is down, answers with errors, late or twice: it misses nothing, and gets nothing out of order.
import dns from 'node:dns';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { verifyWebhook, webhook } from '../../src/entry/http.ts';
import type { EmbeddedRuntime } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import type { FakeClock } from '../../src/testing/index.ts';
import { ann, bob, getWait, places, readEvents, sqlitePlace, stageOn } from './stage.ts';

const secret = 'a secret that only the two sides know';

interface Request {
  readonly id: string;
  readonly attempt: number;
  readonly sessionId: string;
  readonly seqs: readonly number[];
  readonly body: string;
  readonly isSigned: boolean;
}

interface WebhookBody {
  readonly session_id: string;
  readonly envelopes: readonly { readonly event: string; readonly seq: number }[];
}

/** A receiver that keeps what it accepts, once per delivery id. */
async function startReceiver(now: () => number) {
  const requests: Request[] = [];
  const accepted = new Map<string, Request>();
  let answer: (request: Request, response: ServerResponse) => void | Promise<void> = () => undefined;
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readText(request);
      const { headers } = request;
      const { session_id: sessionId, envelopes } = JSON.parse(body) as WebhookBody;
      const signature = String(headers['stepline-signature']);
      const isSigned = await verifyWebhook({ body, signature, secret, now: now() });
      const ids = { id: String(headers['stepline-delivery']), attempt: Number(headers['stepline-attempt']) };
      const received: Request = { ...ids, sessionId, seqs: envelopes.map(({ seq }) => seq), body, isSigned };
      requests.push(received);
      await answer(received, response);
      if (response.writableEnded) return;
      accepted.set(received.id, accepted.get(received.id) ?? received);
      response.writeHead(204).end();
    })();
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}/hooks?key=hidden`,
    requests,
    /** Numbers of the events of a session, in the order in which they were first accepted. */
    seqs: (sessionId: string) => [...accepted.values()].filter((each) => each.sessionId === sessionId).flatMap(({ seqs }) => seqs),
    answerWith: (next: typeof answer) => void (answer = next),
    goDown: close,
    comeBack: () => listen(port),
  };
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Moves time on until something holds; the network takes its own time. */
async function advanceUntil(clock: FakeClock, check: () => boolean | Promise<boolean>): Promise<void> {
  await expect
    .poll(
      async () => {
        if (await check()) return true;
        await clock.advance(5000);
        return false;
      },
      { timeout: 30_000, interval: 2 },
    )
    .toBe(true);
}

/** Numbers of a session's events that have an envelope: every one that a receiver without trouble got. */
async function expectWhole(runtime: EmbeddedRuntime, receiver: Receiver, expected: ReadonlyMap<string, readonly number[]>): Promise<void> {
  for (const [id, seqs] of expected) {
    expect(receiver.seqs(id)).toStrictEqual(seqs);
    expect(seqs.at(-1)).toBeLessThanOrEqual((await readEvents(runtime, id)).length);
  }
  expect(receiver.requests.every(({ isSigned }) => isSigned)).toBe(true);
}

const ids = ['a', 'b', 'c', 'd'];

async function talk(runtime: EmbeddedRuntime, round: number): Promise<void> {
  await Promise.all(
    ids.map(async (id) => {
      if (round === 0) await runtime.create({ id, tenant: 't' }, { by: ann });
      await runtime.send(id, `look ${round}; pay 1; say Paid ${round}.`, { by: ann });
      await runtime.approve(id, await getWait(runtime, id), { by: bob });
    }),
  );
}

/** Troubles of a receiver, each with the talk that goes on meanwhile. */
const troubles: Readonly<Record<string, (receiver: Receiver, clock: FakeClock, talkMore: () => Promise<void>) => Promise<void>>> = {
  'is down for ten minutes': async (receiver, clock, talkMore) => {
    await receiver.goDown();
    await talkMore();
    for (let minute = 0; minute < 10; minute += 1) await clock.advance(60_000);
    await talkMore();
    await receiver.comeBack();
  },
  'answers with 500, and 429 with a time': async (receiver, clock, talkMore) => {
    let count = 0;
    receiver.answerWith((_, response) => {
      count += 1;
      if (count % 2 === 0) response.writeHead(500).end('sorry');
      else if (count % 3 === 0) response.writeHead(429, { 'retry-after': '30' }).end();
    });
    await talkMore();
    for (let turn = 0; turn < 20; turn += 1) await clock.advance(5000);
    await talkMore();
  },
  'answers too late, and has accepted': async (receiver, clock, talkMore) => {
    const late: ServerResponse[] = [];
    let count = 0;
    receiver.answerWith(async (_, response) => {
      count += 1;
      if (count > 6 || count % 2 === 0) return;
      late.push(response);
      // Longer than the sender waits.
      await new Promise<void>((resolve) => response.on('close', resolve));
    });
    const talking = talkMore();
    await expect.poll(() => late.length, { timeout: 10_000 }).toBeGreaterThan(0);
    for (let turn = 0; turn < 20; turn += 1) await clock.advance(5000);
    await talking;
    await talkMore();
  },
  'redirects, and sends the body back twice': async (receiver, clock, talkMore) => {
    let count = 0;
    receiver.answerWith(({ body }, response) => {
      count += 1;
      if (count <= 4) response.writeHead(307, { location: '/elsewhere' }).end(body + body);
    });
    await talkMore();
    for (let turn = 0; turn < 5; turn += 1) await clock.advance(5000);
    await talkMore();
  },
};

test.each(Object.entries(troubles))(
  'a receiver that %s misses nothing, and gets nothing out of order within a session',
  async (_, makeTrouble) => {
    const stage = stageOn(createMemoryPlace());
    const { clock } = stage;
    const runtime = stage.start();
    const [receiver, control] = [await startReceiver(() => clock.now()), await startReceiver(() => clock.now())];
    const options = { timeoutMs: 10_000, maxDelayMs: 60_000 };
    runtime.deliver('desk', webhook({ url: receiver.url, secret, clock, allowAnyAddress: true }), options);
    runtime.deliver('control', webhook({ url: control.url, secret, clock, allowAnyAddress: true }), options);
    let round = 0;
    const talkMore = async (): Promise<void> => talk(runtime, round++);
    await talkMore();
    await makeTrouble(receiver, clock, talkMore);
    receiver.answerWith(() => undefined);
    const lastSeqs = await Promise.all(ids.map(async (id) => (await readEvents(runtime, id)).length));
    const isWhole = (each: Receiver): boolean => ids.every((id, index) => each.seqs(id).at(-1) === lastSeqs[index]);
    await advanceUntil(clock, () => isWhole(control));
    await advanceUntil(clock, () => isWhole(receiver));
    await expectWhole(runtime, receiver, new Map(ids.map((id) => [id, control.seqs(id)])));
    expect(receiver.requests.some(({ attempt }) => attempt > 1)).toBe(true);
    // The same delivery has the same id and the same body, whenever it is sent.
    const bodies = new Map<string, string>();
    for (const { id, body } of receiver.requests) expect(bodies.get(id) ?? body).toBe((bodies.set(id, bodies.get(id) ?? body), body));
    expect(await runtime.deadLetters('desk')).toStrictEqual([]);
    await runtime.drain();
  },
);

test('no secret is in a request, and none in a dead letter', async () => {
  const stage = stageOn(sqlitePlace());
  const { clock } = stage;
  const problems: unknown[] = [];
  const runtime = stage.start({ onProblem: (error) => problems.push(error) });
  const receiver = await startReceiver(() => clock.now());
  receiver.answerWith((_, response) => void response.writeHead(400).end());
  const key = 'sk-abcdefghijklmnopqrstuvwxyz012345';
  runtime.deliver('desk', webhook({ url: receiver.url, secret, clock, allowAnyAddress: true }), { maxAttempts: 1 });
  await runtime.create({ id: 'a' }, { by: ann });
  await runtime.send('a', `say My key is ${key}`, { by: ann });
  await expect.poll(async () => (await runtime.deadLetters('desk')).length, { timeout: 10_000 }).toBeGreaterThan(0);
  const letters = await runtime.deadLetters('desk');
  expect(receiver.requests.map(({ body }) => body).join('')).toContain('My key is');
  const seen = [receiver.requests, letters, problems.map(String)].map((each) => JSON.stringify(each)).join('');
  for (const hidden of [key, secret, 'key=hidden']) expect(seen).not.toContain(hidden);
  expect(letters[0]?.error).toContain('answered with status 400');
  await runtime.drain();
});

test.each<readonly [string, () => Promise<Response>]>([
  ['answers with an error', () => Promise.resolve(new Response('no', { status: 500 }))],
  ['cannot be reached', () => Promise.reject(new TypeError('request to https://hooks.example/services/T0AAAAAAA/XyZsEcReT012?k=v failed'))],
])('a dead letter and its report name only the origin of a receiver that %s (K3)', async (_, fetch) => {
  const stage = stageOn(createMemoryPlace());
  const problems: unknown[] = [];
  const runtime = stage.start({ onProblem: (error) => problems.push(error) });
  const url = 'https://hooks.example/services/T0AAAAAAA/XyZsEcReT012?k=v';
  runtime.deliver('desk', webhook({ url, secret, fetch }), { maxAttempts: 1 });
  await runtime.create({ id: 'a' }, { by: ann });
  await runtime.send('a', 'say Hello.', { by: ann });
  await expect.poll(() => problems.length, { timeout: 10_000 }).toBeGreaterThan(0);
  const letters = await runtime.deadLetters('desk');
  expect(letters[0]?.error).toContain('The webhook receiver https://hooks.example ');
  const seen = JSON.stringify([letters, problems.map(String)]);
  for (const hidden of ['services', 'T0AAAAAAA', 'XyZsEcReT012', 'k=v']) expect(seen).not.toContain(hidden);
  await runtime.drain();
});

test('a body of the host’s own is sent as it is, and nothing if there is none', async () => {
  const stage = stageOn(places[0]![1]());
  const { clock } = stage;
  const runtime = stage.start();
  const receiver = await startReceiver(() => clock.now());
  runtime.deliver(
    'desk',
    webhook({
      url: receiver.url,
      secret,
      clock,
      allowAnyAddress: true,
      headers: { authorization: 'Bearer x' },
      toBody: ({ sessionId, events }) =>
        sessionId === 'quiet' ? undefined : { session_id: sessionId, envelopes: events.map(({ seq, type }) => ({ seq, event: type })) },
    }),
    { types: ['AgentFinished'] },
  );
  for (const id of ['quiet', 'loud']) {
    await runtime.create({ id }, { by: ann });
    await runtime.send(id, 'say Hello.', { by: ann });
  }
  await expect.poll(() => receiver.requests.length, { timeout: 10_000 }).toBe(1);
  expect(JSON.parse(receiver.requests[0]?.body ?? '')).toMatchObject({ session_id: 'loud', envelopes: [{ event: 'AgentFinished' }] });
  await runtime.drain();
});

test.each([
  [{ url: 'ftp://x', secret }, 'webhook() needs an address that begins with http:// or https://'],
  [{ url: 'https://user:pass@office.example', secret }, 'must not have a user name or a password'],
  [{ url: 'https://office.example', secret: 'short' }, 'webhook() needs a secret of at least 32 bytes, not a shorter one.'],
  [{ url: 'https://x', secret, retries: 3 }, 'retries'],
  [{ url: 'http://127.0.0.1:8080/x', secret }, 'webhook(): http://127.0.0.1:8080 leads to this machine or its own network.'],
  [{ url: 'http://2130706433/', secret }, 'webhook(): http://127.0.0.1 leads to this machine or its own network.'],
  [{ url: 'http://169.254.169.254/latest/meta-data', secret }, 'If no tenant can set the url, pass allowAnyAddress: true.'],
  [{ url: 'http://[::ffff:10.0.0.1]', secret }, 'leads to this machine or its own network'],
  [{ url: 'http://localhost:8080', secret, fetch: globalThis.fetch }, 'leads to this machine or its own network'],
  [{ url: 'http://office.example:25', secret }, 'has port 25, which belongs to another protocol'],
  [undefined, 'webhook() needs { url, secret }'],
])('refuses %j', (options, message) => {
  expect(() => webhook(options as never)).toThrow(message);
});

/** Makes names lead to addresses, as a tenant's own name server would. */
function answerLookups(...answers: readonly (readonly string[])[]) {
  const left = [...answers];
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((_name: string, _options: unknown, callback: LookupCallback) => {
    const addresses = left.length > 1 ? left.shift() : left[0];
    callback(
      null,
      (addresses ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  }) as never);
  onTestFinished(() => lookup.mockRestore());
  return lookup;
}

type LookupCallback = (error: null, addresses: readonly { readonly address: string; readonly family: number }[]) => void;

test.each([[['127.0.0.1']], [['::1']], [['1.1.1.1', '127.0.0.1']], [['::ffff:127.0.0.1']]])(
  'sends nothing to a name that leads to %j (K4)',
  async (addresses) => {
    const receiver = await startReceiver(() => 0);
    const stage = stageOn(createMemoryPlace());
    const problems: unknown[] = [];
    const runtime = stage.start({ onProblem: (error) => problems.push(error) });
    const lookup = answerLookups(addresses);
    const url = receiver.url.replace('127.0.0.1', 'office.example');
    runtime.deliver('desk', webhook({ url, secret }), { maxAttempts: 1 });
    await runtime.create({ id: 'a' }, { by: ann });
    await runtime.send('a', 'say Hello.', { by: ann });
    await expect.poll(async () => (await runtime.deadLetters('desk')).length, { timeout: 10_000 }).toBeGreaterThan(0);
    const [letter] = await runtime.deadLetters('desk');
    expect(letter?.error).toContain('could not be reached: its name leads to a private address.');
    expect(lookup).toHaveBeenCalled();
    expect(receiver.requests).toEqual([]);
    await runtime.drain();
  },
);
