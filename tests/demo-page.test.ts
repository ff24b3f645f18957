// The parts of `npm start` that serve the page. Whole desks, in processes that are killed, are in demo-page.slow.test.ts.
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acts } from '../examples/partner-desk/web/acts.ts';
import { refuseForeign } from '../examples/partner-desk/web/check-request.ts';
import type { Child } from '../examples/partner-desk/web/child-process.ts';
import { createKeeper, getRestartDelay } from '../examples/partner-desk/web/keeper.ts';
import { isPortTaken, listenOnLoopback } from '../examples/partner-desk/web/loopback.ts';
import type { FromChild, ToChild } from '../examples/partner-desk/web/messages.ts';
import { createTourHandler } from '../examples/partner-desk/web/tour-handler.ts';
import { createFakeClock } from '../src/testing/index.ts';

describe('the supervisor of a process', () => {
  /** A process that does what a test says. */
  class TestChild implements Child {
    readonly pid = 7;
    readonly sent: ToChild[] = [];
    isKilled = false;
    readonly #listeners: ((message: FromChild) => void)[] = [];
    #resolveEnd: (how: string) => void = () => undefined;
    readonly ended = new Promise<string>((resolve) => (this.#resolveEnd = resolve));

    send(message: ToChild): void {
      this.sent.push(message);
    }
    onMessage(listener: (message: FromChild) => void): void {
      this.#listeners.push(listener);
    }
    kill(): void {
      this.isKilled = true;
      this.end('killed by SIGKILL');
    }
    say(message: FromChild): void {
      for (const listener of this.#listeners) listener(message);
    }
    end(how = 'exit code 1'): void {
      this.#resolveEnd(how);
    }
  }

  function keepTestChildren() {
    const clock = createFakeClock();
    const children: TestChild[] = [];
    const lines: string[] = [];
    const requests: FromChild[] = [];
    const launch = (): Child => {
      const child = new TestChild();
      children.push(child);
      return child;
    };
    const keeper = createKeeper({
      name: 'worker',
      launch,
      clock,
      print: (line) => lines.push(line),
      onRequest: (request) => requests.push(request),
    });
    const last = (): TestChild => children.at(-1)!;
    const startFirst = async (): Promise<void> => {
      const started = keeper.start();
      last().say({ type: 'ready', port: 80 });
      expect(await started).toEqual({ type: 'ready', port: 80 });
    };
    return { keeper, clock, children, lines, requests, last, startFirst };
  }

  it('reports why the first one could not start, and starts no other', async () => {
    const { keeper, clock, children, last } = keepTestChildren();
    const started = keeper.start();
    last().say({ type: 'failed', reason: 'port-taken', message: 'Port 80 is taken.' });
    last().end();
    await expect(started).rejects.toMatchObject({ reason: 'port-taken', message: 'Port 80 is taken.' });
    await clock.advance(60_000);
    expect(children).toHaveLength(1);
    const silent = keeper.start();
    last().end('killed by SIGSEGV');
    await expect(silent).rejects.toThrow('The worker could not start (killed by SIGSEGV).');
  });

  it('replaces one that ends, later and later if its successors end soon', async () => {
    const { clock, children, lines, last, startFirst } = keepTestChildren();
    await startFirst();
    for (const delayMs of [500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
      const count = children.length;
      last().end('killed by SIGKILL');
      await clock.advance(delayMs - 1);
      expect(children).toHaveLength(count);
      await clock.advance(1);
      expect(children).toHaveLength(count + 1);
    }
    expect(lines[0]).toBe('The worker has ended (killed by SIGKILL). Another one starts in 0.5 s.');
    last().say({ type: 'ready' });
    await clock.advance(30_000);
    last().end();
    await clock.advance(500);
    expect(children).toHaveLength(9);
  });

  it('waits no longer than ten seconds', () => {
    expect([1, 2, 6, 60, 2000].map(getRestartDelay)).toEqual([500, 1000, 10_000, 10_000, 10_000]);
  });

  it('has one process at a time through a pause, and none after it has stopped', async () => {
    const { keeper, clock, children, last, startFirst } = keepTestChildren();
    await startFirst();
    const paused = keeper.pause();
    expect(last().sent).toEqual([{ type: 'end' }]);
    keeper.resume();
    expect(children).toHaveLength(1);
    last().end('exit code 0');
    await paused;
    await clock.advance(500);
    expect(children).toHaveLength(2);
    last().end();
    await keeper.stop();
    keeper.resume();
    await clock.advance(60_000);
    expect(children).toHaveLength(2);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('kills one that does not end when it should', async () => {
    const { keeper, clock, last, startFirst } = keepTestChildren();
    await startFirst();
    const stopped = keeper.stop();
    await clock.advance(7999);
    expect(last().isKilled).toBe(false);
    await clock.advance(1);
    await stopped;
    expect(last().isKilled).toBe(true);
  });

  it('passes on what the process asks for', async () => {
    const { requests, last, startFirst } = keepTestChildren();
    await startFirst();
    last().say({ type: 'kill-worker', pid: 7 });
    expect(requests).toEqual([{ type: 'kill-worker', pid: 7 }]);
  });
});

describe('a request', () => {
  it.each([
    ['http://localhost:4747/', {}],
    ['http://127.0.0.1:4747/', { host: '127.0.0.1:4747' }],
    ['http://[::1]:4747/', { host: '[::1]:4747' }],
    ['http://localhost:9000/', { host: 'localhost:9000', origin: 'http://localhost:9000' }],
    ['http://localhost/', { 'sec-fetch-site': 'same-origin' }],
  ])('to %s with %j is answered', (url, headers) => {
    expect(refuseForeign(new Request(url, { method: 'POST', headers }))).toBeUndefined();
  });

  it.each([
    ['http://evil.example:4747/', {}],
    ['http://localhost.evil.example/', {}],
    ['http://localhost:4747/', { host: 'evil.example' }],
    ['http://evil.example/', { host: 'localhost:4747' }],
    ['http://localhost:4747/', { host: '' }],
    ['http://192.168.0.7:4747/', {}],
  ])('to %s with %j is refused, because it names another machine', (url, headers) => {
    expect(refuseForeign(new Request(url, { headers }))?.status).toBe(421);
  });

  it.each([
    [{ origin: 'http://evil.example' }],
    [{ origin: 'http://localhost:1' }],
    [{ origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site' }],
  ])('of a page with %j may read, and change nothing', (headers) => {
    const url = 'http://localhost:4747/tour/killed';
    expect(refuseForeign(new Request(url, { headers }))).toBeUndefined();
    expect(refuseForeign(new Request(url, { headers, method: 'POST' }))?.status).toBe(403);
  });
});

describe('the tour over HTTP', () => {
  const problems: unknown[] = [];
  const handle = createTourHandler(
    {
      start: async (act) => {
        if (act === 'overnight') throw new Error('no evening today');
        return `session of ${act}`;
      },
      untilMorning: async () => undefined,
    },
    { path: '/tour', onProblem: (error) => problems.push(error) },
  );
  const send = (method: string, path: string, type = 'application/json'): Promise<Response> =>
    handle(new Request(`http://localhost${path}`, { method, ...(method === 'POST' && { body: '{}', headers: { 'content-type': type } }) }));

  it('lists its acts, each with a few sentences', async () => {
    const response = await send('GET', '/tour');
    expect(await response.json()).toEqual({ acts });
    expect(acts.map(({ id }) => id)).toEqual(['failing-tool', 'limit', 'approval', 'killed', 'overnight', 'why']);
    for (const { text } of acts) expect(text.split(/[.:] /).length).toBeLessThanOrEqual(5);
  });

  it('starts an act and names its session', async () => {
    expect(await (await send('POST', '/tour/limit')).json()).toEqual({ session_id: 'session of limit' });
  });

  it.each([
    ['POST', '/tour', 405],
    ['GET', '/tour/limit', 405],
    ['POST', '/tour/nothing', 404],
    ['POST', '/tour/limit/more', 404],
  ])('answers %s %s with %d', async (method, path, status) => {
    expect((await send(method, path)).status).toBe(status);
  });

  it('takes only JSON, which pages of other origins cannot send', async () => {
    expect((await send('POST', '/tour/limit', 'text/plain')).status).toBe(415);
  });

  it('reports what went wrong', async () => {
    expect((await send('POST', '/tour/overnight')).status).toBe(503);
    expect(problems).toEqual([new Error('no evening today')]);
  });
});

describe('the server', () => {
  const occupy = async (host: string): Promise<number> => {
    const server: Server = createServer();
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  };

  it('listens on both loopback addresses', async () => {
    const server = await listenOnLoopback((_request, response) => response.end('here'), 0);
    onTestFinished(() => server.close());
    for (const host of ['127.0.0.1', 'localhost']) expect(await (await fetch(`http://${host}:${server.port}`)).text()).toBe('here');
  });

  it('knows a port that is taken', async () => {
    const port = await occupy('127.0.0.1');
    const error = await listenOnLoopback(() => undefined, port).catch((reason: unknown) => reason);
    expect(isPortTaken(error)).toBe(true);
    expect(isPortTaken(new Error('no memory'))).toBe(false);
  });
});
