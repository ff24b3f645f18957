// Events over HTTP: stored ones by number, the open step as it is written, and both without a gap or a double.
import { describe, expect, it } from 'vitest';
import { createSessionHandler } from '../../src/broadcasting/http/index.ts';
import type { Envelope } from '../../src/broadcasting/index.ts';
import { createAgent, defineHook, defineTool } from '../../src/entry/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import { toEnvelopeProblems } from '../support/envelopes.ts';
import { ann, newSession, openSite } from './stage.ts';
import type { Site } from './stage.ts';
import { isRest, readInto, View } from './view-reader.ts';

const headers = { 'x-caller': ann };

const read = (site: Site, id: string, isDone: (view: View, envelope: Envelope) => boolean, view = new View()): Promise<View> =>
  readInto(view, `${site.url}/sessions/${id}/events`, { headers, isDone }).then(() => view);

/** Reads the texts of a stream as they come. */
async function* readTexts(response: Response): AsyncGenerator<string> {
  // Holds: the body of a response is bytes.
  for await (const bytes of response.body as ReadableStream<Uint8Array>) yield new TextDecoder().decode(bytes);
}

const send = (site: Site, id: string, text: string) => site.request(ann, 'POST', `/sessions/${id}/messages`, { text });

describe('the events of a session', () => {
  it('come with headers that keep proxies from holding them back', async () => {
    const site = await openSite();
    const response = await fetch(`${site.url}/sessions/${await site.start(ann, 'say Hi')}/events`, { headers });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toContain('no-transform');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const first = await readTexts(response).next();
    expect(first.value).toMatch(/^retry: 2000\n\n/);
  });

  it('come once each and in order, with an id on the last part of an event', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'look 1; say Hello');
    const frames: string[] = [];
    const response = await fetch(`${site.url}/sessions/${id}/events`, { headers });
    for await (const text of readTexts(response)) {
      frames.push(...text.split('\n\n').filter(Boolean));
      if (frames.some((frame) => frame.includes('agent.head'))) break;
    }
    const envelopes = frames
      .filter((frame) => frame.includes('"seq"') && !frame.includes('agent.head'))
      .map((frame) => {
        const [, number] = /^id: (\d+)$/m.exec(frame) ?? [];
        return { id: number, ...(JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as { seq: number; part: number; prev_seq: number }) };
      });
    expect(envelopes.length).toBeGreaterThan(8);
    for (const [index, each] of envelopes.entries()) {
      const next = envelopes[index + 1];
      expect(each.id).toBe(next?.seq === each.seq ? undefined : String(each.seq));
      if (next !== undefined && next.seq !== each.seq) expect([next.prev_seq, next.part]).toEqual([each.seq, 1]);
    }
  });

  it('start again for a reader that has more than the session, which is told so at once', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'say One');
    const { lastSeq } = await site.runtime.get(id);
    const readFrames = async (query: string, more: Readonly<Record<string, string>>, isDone: (text: string) => boolean) => {
      let text = '';
      for await (const part of readTexts(await fetch(`${site.url}/sessions/${id}/events${query}`, { headers: { ...headers, ...more } })))
        if (isDone((text += part))) break;
      return text.split('\n\n').filter((frame) => frame.includes('data: '));
    };
    const atEnd = (text: string): boolean => text.includes(`id: ${lastSeq}\n`);
    for (const [query, more] of [
      ['', { 'last-event-id': '999' }] as const,
      ['?after=999', {}] as const,
      [`?after=${lastSeq + 1}`, {}] as const,
    ]) {
      const [first = '', second = ''] = await readFrames(query, more, atEnd);
      expect(first).toMatch(/^id: 0\ndata: .*"event":"agent.head".*"data":\{"seq":0,"restart":true\}/);
      expect(toEnvelopeProblems(JSON.parse(first.slice(first.indexOf('{'))) as Envelope)).toEqual([]);
      expect(second).toContain('"seq":1,');
    }
    const [cut = ''] = await readFrames('?after=999&last=2', {}, atEnd);
    expect(cut).toMatch(new RegExp(`^id: ${lastSeq - 2}\ndata: .*"totals":.*"restart":true`));
    const [current = ''] = await readFrames('', { 'last-event-id': String(lastSeq - 1) }, atEnd);
    expect(current).not.toContain('restart');
    const readPage = async (after: number): Promise<string> =>
      (await fetch(`${site.url}/sessions/${id}/events?after=${after}`, { headers: { ...headers, accept: 'application/json' } })).text();
    expect(await readPage(999)).toMatch(new RegExp(`"data":{"seq":0,"restart":true}},.*"from":1,"after":${lastSeq},`));
    expect(await readPage(lastSeq)).not.toContain('restart');
  });

  it('continue behind the last one that a reader has', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'say One');
    const whole = await read(site, id, isRest);
    await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'say Two', until: 'rest' });
    const continued = await read(site, id, isRest, whole);
    let rests = 0;
    const fresh = await read(site, id, (...given) => isRest(...given) && (rests += 1) === 2);
    expect(continued.stored).toEqual(fresh.stored);
    expect([continued.faults, fresh.faults, continued.text]).toEqual([[], [], 'OneTwo']);
  });

  it('are also sent as a page of JSON, for readers of other transports', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'look 1; say One');
    const accept = { ...headers, accept: 'application/json' };
    const all: Envelope[] = [];
    for (let after = 0; ;) {
      const response = await fetch(`${site.url}/sessions/${id}/events?after=${after}&limit=3`, { headers: accept });
      const page = (await response.json()) as { envelopes: Envelope[]; after: number };
      if (page.envelopes.length === 0) break;
      all.push(...page.envelopes);
      after = page.after;
    }
    const view = new View();
    for (const envelope of all) {
      view.take(envelope);
      if ('seq' in envelope) view.confirm(envelope.seq ?? 0);
    }
    expect([view.stored, view.faults]).toEqual([(await read(site, id, isRest)).stored, []]);
    const wrong = await fetch(`${site.url}/sessions/${id}/events?after=soon`, { headers: accept });
    expect(wrong.status).toBe(400);
  });

  it('come from the end, behind a head with the totals of what is left out', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'look 1; say One');
    await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'look 1; say Two', until: 'rest' });
    const { lastSeq, usage } = await site.runtime.get(id);
    const seen: Envelope[] = [];
    await readInto(new View(), `${site.url}/sessions/${id}/events?last=4`, {
      headers,
      isDone: (view, envelope) => seen.push(envelope) > 1 && isRest(view, envelope),
    });
    const totals = { seq: lastSeq, status: 'completed', execution_id: `${id}/2`, step_count: 2, usage: { total: usage.total } };
    expect(seen[0]).toMatchObject({ event: 'agent.head', data: { seq: lastSeq - 4, totals } });
    expect(seen.flatMap(toEnvelopeProblems)).toEqual([]);
    expect(seen.slice(1).every((each) => 'seq' in each && (each.seq ?? 0) > lastSeq - 4 && each.prev_seq! >= lastSeq - 4)).toBe(true);
    // A reader that has some of the end already gets only the rest; one that has all of it gets no totals.
    const next = await fetch(`${site.url}/sessions/${id}/events?last=4&after=${lastSeq - 2}`, {
      headers: { ...headers, accept: 'application/json' },
    });
    const page = (await next.json()) as { readonly envelopes: readonly Envelope[]; readonly from: number };
    expect([page.from, page.envelopes.some(({ event }) => event === 'agent.head')]).toEqual([lastSeq - 1, false]);
  });

  it('come in pages that go back from the end', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'look 1; say One');
    const accept = { ...headers, accept: 'application/json' };
    const found: Envelope[] = [];
    for (let before = (await site.runtime.get(id)).lastSeq + 1; before > 1;) {
      const response = await fetch(`${site.url}/sessions/${id}/events?before=${before}&last=3`, { headers: accept });
      const page = (await response.json()) as { readonly envelopes: readonly Envelope[]; readonly from: number; readonly after: number };
      expect([page.from, page.after]).toEqual([Math.max(1, before - 3), before - 1]);
      found.unshift(...page.envelopes.filter(({ event }) => event !== 'agent.head'));
      before = page.from;
    }
    const whole = await fetch(`${site.url}/sessions/${id}/events?limit=500`, { headers: accept });
    const { envelopes } = (await whole.json()) as { readonly envelopes: readonly Envelope[] };
    const strip = (each: Envelope): object => ({ ...each, prev_seq: undefined });
    expect(found.map(strip)).toEqual(envelopes.map(strip));
    for (const wrong of ['last=many', 'before=-1'])
      expect((await fetch(`${site.url}/sessions/${id}/events?${wrong}`, { headers: accept })).status).toBe(400);
  });

  it('say at rest, and whenever nothing happens, which is the newest', async () => {
    const clock = createFakeClock(Date.now());
    const site = await openSite({ handler: { clock, heartbeatMs: 15_000 } });
    const id = await site.start(ann, 'say Hi');
    const heads: Envelope[] = [];
    const view = await read(site, id, (_view, envelope) => {
      if (envelope.event === 'agent.head') {
        heads.push(envelope);
        void clock.advance(15_000);
      }
      return heads.length === 3;
    });
    expect(heads.map(({ data }) => data['seq'])).toEqual([view.lastSeq, view.lastSeq, view.lastSeq]);
  });

  it('end after the longest time of a stream, and when the runtime is drained', async () => {
    const clock = createFakeClock(Date.now());
    const site = await openSite({ handler: { clock, maxStreamMs: 60_000 } });
    const id = await site.start(ann, 'say Hi');
    const view = new View();
    const isDone = (...given: [View, Envelope]): boolean => {
      if (isRest(...given)) void clock.advance(60_000);
      return false;
    };
    expect(await readInto(view, `${site.url}/sessions/${id}/events`, { headers, isDone })).toBe(false);
    const drained = readInto(view, `${site.url}/sessions/${id}/events`, { headers });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await site.runtime.drain();
    expect(await drained).toBe(false);
  });
});

describe('the open step', () => {
  it('is shown as it is written, and confirmed by its record', async () => {
    const site = await openSite();
    const id = await site.start(ann);
    const seen: Envelope[] = [];
    const reading = read(site, id, (view, envelope) => {
      seen.push(envelope);
      if (view.openText === 'one ') site.open('gate');
      return isRest(view, envelope);
    });
    await send(site, id, 'write one@gate two');
    const view = await reading;
    expect([view.faults, view.text.trim(), view.openText]).toEqual([[], 'one two', '']);
    const provisional = seen.flatMap((each) => ('provisional' in each && each.event !== 'agent.stream.chunk' ? [each] : []));
    expect(provisional.map(({ event }) => event)).toContain('agent.step.started');
    for (const { attempt, index, event, execution_id } of provisional) {
      const confirmed = seen.filter((each) => 'seq' in each && each.index === index && each.attempt === attempt);
      expect(confirmed).toMatchObject([{ event, execution_id }]);
    }
  });

  it('is shown so far to a reader that comes late, and then goes on', async () => {
    const site = await openSite();
    const id = await site.start(ann);
    await send(site, id, 'write one two three@gate four');
    const first = await read(site, id, ({ openText }) => openText === 'one two three ');
    const late = read(site, id, (view, envelope) => {
      if (view.openText === 'one two three ') site.open('gate');
      return isRest(view, envelope);
    });
    expect([(await late).text.trim(), (await late).faults, first.faults]).toEqual(['one two three four', [], []]);
  });

  it('is taken back if another model answers', async () => {
    const model = scriptedModel([
      { chunks: ['wro', 'ng'], error: { type: 'model', code: 'http-503', message: 'gone', retryable: true } },
      { text: 'right' },
    ]);
    const site = await openSite({ agents: [createAgent({ id: 'desk', model })] });
    const id = await site.start(ann);
    await send(site, id, 'go');
    const view = await read(site, id, isRest);
    expect([view.faults, view.openText]).toEqual([[], '']);
  });

  it('goes on without a gap for a reader that was too slow for it', async () => {
    const words = Array.from({ length: 300 }, (_, n) => `word-${n}-${'x'.repeat(100)}`);
    const site = await openSite({ handler: { maxBufferBytes: 2_000 } });
    const id = await site.start(ann);
    const reading = read(site, id, (view, envelope) => {
      if (view.openText.includes('word-299')) site.open('end');
      // Text of the last moment only: the answer itself is too long for an envelope.
      return isRest(view, envelope);
    });
    await send(site, id, `write ${words.join(' ')}@end done`);
    const view = await reading;
    expect(view.faults).toEqual([]);
    expect((await site.runtime.get(id)).text.trim()).toBe(`${words.join(' ')} done`);
  });

  it('that waits is not shown again when it has been stored', async () => {
    const site = await openSite();
    const id = await site.start(ann, 'pay 5');
    const [wait] = (await site.runtime.get(id)).waitingFor;
    const reading = read(site, id, (view, envelope) => {
      const isWaiting = isRest(view, envelope) && JSON.stringify(envelope.data).includes('"waiting"');
      if (isWaiting) void site.runtime.approve(id, wait!, { by: { id: 'bob', kind: 'staff' } });
      return isRest(view, envelope) && !isWaiting;
    });
    const view = await reading;
    expect([view.faults, view.text]).toEqual([[], 'Done.']);
  });
});

describe('a payload that was cut', () => {
  it('is fetched whole by its reference', async () => {
    const site = await openSite();
    const long = 'A long answer. '.repeat(900).trim();
    const id = await site.start(ann, `say ${long}`);
    const seen: Envelope[] = [];
    await read(site, id, (view, envelope) => {
      seen.push(envelope);
      return isRest(view, envelope);
    });
    const cut = seen.find(({ event, data }) => event === 'agent.message' && data['role' as never] === ('assistant' as never));
    const { ref, bytes } = cut!.data as unknown as { ref: { seq: number; part: number }; bytes: number };
    expect(bytes).toBeGreaterThan(10_000);
    const whole = await site.request(ann, 'GET', `/sessions/${id}/payloads/${ref.seq}/${ref.part}`);
    expect(whole).toMatchObject({ status: 200, body: { seq: ref.seq, data: { role: 'assistant', text: long } } });
    expect(await site.request(ann, 'GET', `/sessions/${id}/payloads/9999/1`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not-found' } },
    });
    expect(await site.request(ann, 'GET', `/sessions/${id}/payloads/x/1`)).toMatchObject({ status: 400 });
  });
});

describe('a reader that leaves', () => {
  it('leaves nothing behind, also in the middle of what it reads', async () => {
    const { runtime, start } = await openSite();
    const id = await start(ann, 'look 1; say One');
    const open = { readers: 0 };
    async function* readCounted(
      ...[sessionId, options]: Parameters<typeof runtime.events>
    ): ReturnType<typeof runtime.events> & AsyncGenerator {
      open.readers += 1;
      try {
        yield* runtime.events(sessionId, options);
      } finally {
        open.readers -= 1;
      }
    }
    const handler = createSessionHandler(
      { ...runtime, events: readCounted },
      { authenticate: () => ({ id: 'ann', kind: 'user' }), authorize: () => true, newSession },
    );
    for (let readers = 0; readers < 3; readers += 1) {
      const { body } = await handler(new Request(`http://host/sessions/${id}/events`));
      const reader = body?.getReader();
      await reader?.read();
      await reader?.read();
      expect(open.readers).toBe(1);
      await reader?.cancel();
      await expect.poll(() => open.readers).toBe(0);
    }
  });

  it('before it was answered, or with a wrong number, leaves no timer', async () => {
    const { runtime, start } = await openSite();
    const id = await start(ann, 'say One');
    const clock = createFakeClock();
    const timers = { open: 0 };
    const schedule: typeof clock.schedule = (...given) => {
      timers.open += 1;
      const cancel = clock.schedule(...given);
      return () => {
        timers.open -= 1;
        cancel();
      };
    };
    const counted = { now: () => clock.now(), monotonic: () => clock.monotonic(), schedule };
    const handler = createSessionHandler(runtime, {
      authenticate: () => ({ id: 'ann', kind: 'user' }),
      authorize: () => true,
      newSession,
      clock: counted,
    });
    expect((await handler(new Request(`http://host/sessions/${id}/events?after=soon`))).status).toBe(400);
    await handler(new Request(`http://host/sessions/${id}/events`, { signal: AbortSignal.abort() }));
    expect(timers.open).toBe(0);
  });
});

describe('secrets', () => {
  // Written in pieces so that secret scanners leave this file alone.
  const planted = [
    'hunter2-args',
    'hunter2-result',
    'hunter2-message',
    'hunter2-cause',
    'hunter2-url',
    'hunter2-header',
    'hunter2-metadata',
  ];
  const [inArgs = '', inResult = '', inMessage = '', inCause = '', inUrl = '', inHeader = '', inMetadata = ''] = planted;

  it('are in no response and in no envelope', async () => {
    const login = defineTool({
      name: 'login',
      description: 'Logs in.',
      input: { type: 'object', properties: { password: { type: 'string' } } } as const,
      run: () => ({ session: 'ok', api_key: inResult }),
    });
    const fail = defineTool({
      name: 'fail',
      description: 'Fails.',
      input: { type: 'object', properties: {} } as const,
      run: () => {
        const cause = Object.assign(new Error(`cookie: sid=${inCause}; path=/`), { headers: { authorization: `Bearer ${inHeader}` } });
        throw Object.assign(new Error(`GET https://user:${inUrl}@host/?token=${inMessage} failed`, { cause }), {
          url: `https://user:${inUrl}@host/`,
          headers: { authorization: `Bearer ${inHeader}` },
        });
      },
    });
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object', properties: { password: { type: 'string' } } } as const,
      needsApproval: true,
      run: () => 'paid',
    });
    const createModel = () =>
      scriptedModel([
        { toolCalls: [{ name: 'login', args: { password: inArgs } }, { name: 'fail' }] },
        { toolCalls: [{ name: 'pay', args: { password: inArgs } }] },
        { text: 'Done.' },
      ]);
    const keeps = defineHook({
      name: 'keeps',
      changes: ['metadata'],
      beforeStep: () => ({ metadata: { crm: { api_key: inMetadata, plan: 'gold' } } }),
    });
    const create = () => createAgent({ id: 'desk', model: createModel(), tools: [login, fail, pay], hooks: [keeps] });
    for (const preset of ['standard', 'debug'] as const) {
      const site = await openSite({ agents: [create()], handler: { broadcast: { preset }, slim: { includeMetadata: true } } });
      const id = await site.start(ann, 'go');
      const texts: string[] = [];
      const seen: Envelope[] = [];
      await read(site, id, (view, envelope) => {
        seen.push(envelope);
        return isRest(view, envelope);
      });
      texts.push(JSON.stringify(seen));
      for (const path of ['', '/facts', '/waits', '/events']) {
        const response = await fetch(`${site.url}/sessions/${id}${path}`, { headers: { ...headers, accept: 'application/json' } });
        texts.push(await response.text());
      }
      for (const { seq, part } of seen.flatMap((each) => ('seq' in each ? [{ seq: each.seq ?? 0, part: each.part }] : [])))
        texts.push(await (await fetch(`${site.url}/sessions/${id}/payloads/${seq}/${part}`, { headers })).text());
      texts.push(
        JSON.stringify((await site.request(ann, 'POST', `/sessions/${id}/waits/x/approve`, { digest: `token=${inMetadata}` })).body),
      );
      texts.push(JSON.stringify((await site.request(ann, 'GET', `/sessions?status=token=${inMetadata}`)).body));
      // What is beside the secret is shown: it is there to be found.
      expect(texts.some((text) => text.includes('gold'))).toBe(true);
      for (const secret of planted) expect([secret, texts.findIndex((text) => text.includes(secret))]).toEqual([secret, -1]);
    }
  });
});
