import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Message } from '../../messages/index.ts';
import type { Fault } from '../../../tests/support/recordings/fault-server.ts';
import type { WireApi } from '../../testing/node/index.ts';
import { connectModel } from '../../testing/node/index.ts';
import { startFaultServer } from '../../../tests/support/recordings/fault-server.ts';
import type { ModelDelta, ModelOutcome, ModelRequest } from '../index.ts';
import { aiSdk } from './index.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => {
  unhandled.push(reason);
};
beforeAll(() => {
  process.on('unhandledRejection', note);
});
afterAll(() => {
  process.off('unhandledRejection', note);
});

const aborted = { type: 'unknown', code: 'aborted', retryable: false };
// One turn of the event loop: what is due now happens, nothing is waited for.
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const question = (signal: AbortSignal): ModelRequest => ({ messages: [Message.user('Hi')], signal });

// Sockets and requests; timers of the test runner come and go by themselves.
const handles = (): number => process.getActiveResourcesInfo().filter((kind) => /TCP|Socket|HTTP|FetchRequest/i.test(kind)).length;

// For what the other end of a socket does; the test's own limit ends it if it never comes.
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turn();
}

/** The outcome, if it is there within a few turns, during which the other side does nothing. */
async function raceNextTick(work: Promise<ModelOutcome>): Promise<ModelOutcome | undefined> {
  let outcome: ModelOutcome | undefined;
  void work.then((value) => (outcome = value));
  for (let turns = 0; turns < 5 && outcome === undefined; turns += 1) await turn();
  return outcome;
}

describe('abort over the wire', () => {
  const paths: readonly (readonly [string, WireApi])[] = [
    ['openai', 'openai-responses'],
    ['openai', 'openai-chat'],
    ['anthropic', 'anthropic'],
    ['google', 'google'],
    ['compatible', 'openai-chat'],
  ];
  const situations: readonly (readonly [Fault['type'], 'generate' | 'stream', unknown])[] = [
    ['silent', 'generate', new Error('x')],
    ['silent', 'stream', new Error('x')],
    ['stalls', 'stream', new Error('x')],
    ['stalls', 'stream', undefined],
    ['stalls', 'stream', 'a reason that is no error'],
  ];
  const cases = paths.flatMap(([provider, api]) => situations.map(([type, mode, reason]) => ({ provider, api, type, mode, reason })));

  it.each(cases)(
    '$provider $api, $type, $mode: settles at once and lets go of the connection',
    async ({ provider, api, type, mode, reason }) => {
      const before = handles();
      const server = await startFaultServer({ type } as Fault, api);
      const model = aiSdk((await connectModel({ provider, api, modelId: 'sample', baseURL: server.url })) as never);
      const controller = new AbortController();
      const request = question(controller.signal);
      let told = '';
      const hear = (delta: ModelDelta): void => {
        if (delta.type === 'text') told += delta.text;
      };
      const work = mode === 'stream' ? model.stream(request, hear) : model.generate(request);
      await until(async () => (type === 'stalls' ? told === 'Hello' : (await server.connections()) === 1));
      controller.abort(reason);
      const outcome = await raceNextTick(work);
      expect(outcome).toMatchObject({ ok: false, failure: aborted });
      // The words that had come are kept for display.
      if (type === 'stalls') expect(outcome).toMatchObject({ partial: { parts: [{ type: 'text', text: 'Hello' }] } });
      await until(async () => (await server.connections()) === 0);
      expect(await server.connections()).toBe(0);
      await server.close();
      await until(() => handles() <= before);
      expect(handles()).toBeLessThanOrEqual(before);
      expect(unhandled).toEqual([]);
    },
  );
});

const parts: readonly object[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Hel' },
  { type: 'text-delta', id: '1', delta: 'lo' },
  { type: 'text-end', id: '1' },
  { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: {} },
];

// Everything a stream awaits: the stream itself, each part, and its end.
const awaits = parts.length + 2;

interface Heedless {
  readonly model: object;
  readonly cancelled: () => boolean;
  /** Resolves when the model has come to the await at which it hangs. */
  readonly hanging: Promise<void>;
  /** Lets it go on. */
  readonly release: () => void;
}

// A provider that does not look at its signal, and hangs at the await of this number.
function heedless(hangsAt = Number.POSITIVE_INFINITY): Heedless {
  let [cancelled, reached] = [false, 0];
  let [arrive, release] = [(): void => undefined, (): void => undefined];
  const hanging = new Promise<void>((resolve) => (arrive = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const step = async (): Promise<void> => {
    reached += 1;
    if (reached !== hangsAt) return;
    arrive();
    await released;
  };
  const stream = (): ReadableStream<object> => {
    let index = 0;
    return new ReadableStream(
      {
        async pull(controller) {
          await step();
          const part = parts[index];
          index += 1;
          if (part === undefined) controller.close();
          else controller.enqueue(part);
        },
        cancel() {
          cancelled = true;
        },
      },
      // Nothing is fetched ahead, so each part is awaited by whoever reads.
      { highWaterMark: 0 },
    );
  };
  const answer = { content: [{ type: 'text', text: 'Hello' }], finishReason: { unified: 'stop' }, usage: {}, warnings: [] };
  const model = {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: 'heedless',
    doGenerate: async () => {
      await step();
      return answer;
    },
    doStream: async () => {
      await step();
      return { stream: stream() };
    },
  };
  return { model, cancelled: () => cancelled, hanging, release };
}

describe('abort at any await', () => {
  it.each(Array.from({ length: awaits }, (_, index) => index + 1))('of a stream that hangs at await %i', async (hangsAt) => {
    const { model, cancelled, hanging, release } = heedless(hangsAt);
    const controller = new AbortController();
    const work = aiSdk(model as never).stream(question(controller.signal), () => {});
    await hanging;
    controller.abort(new Error('enough'));
    expect(await raceNextTick(work)).toMatchObject({ failure: aborted });
    // What had come is kept: nothing before the first piece of text, and then as much as was sent.
    const text = ['', '', '', '', 'Hel', 'Hello', 'Hello', 'Hello'][hangsAt - 1];
    expect(await work).toMatchObject({ partial: { parts: text === '' ? [] : [{ type: 'text', text }] } });
    release();
    // A stream that was there, or came later, was let go of.
    await until(cancelled);
    expect(unhandled).toEqual([]);
  });

  it('of a whole answer that hangs', async () => {
    const { model, hanging, release } = heedless(1);
    const controller = new AbortController();
    const work = aiSdk(model as never).generate(question(controller.signal));
    await hanging;
    controller.abort();
    expect(await raceNextTick(work)).toMatchObject({ failure: aborted });
    release();
    await turn();
    expect(unhandled).toEqual([]);
  });

  it('inside of onDelta', async () => {
    const { model, cancelled } = heedless();
    const controller = new AbortController();
    const told: string[] = [];
    const outcome = await aiSdk(model as never).stream(question(controller.signal), (delta) => {
      if (delta.type === 'text') told.push(delta.text);
      controller.abort();
    });
    expect(outcome).toMatchObject({ failure: aborted, partial: { parts: [{ type: 'text', text: 'Hel' }] } });
    expect(told).toEqual(['Hel']);
    expect(cancelled()).toBe(true);
  });

  it('of a whole answer, before and during the call', async () => {
    const model = aiSdk(heedless().model as never);
    expect(await model.generate(question(AbortSignal.abort()))).toMatchObject({ failure: aborted });
    expect(await model.stream(question(AbortSignal.abort()), () => {})).toMatchObject({ failure: aborted });
    const controller = new AbortController();
    const work: Promise<ModelOutcome> = model.generate(question(controller.signal));
    controller.abort();
    expect(await work).toMatchObject({ failure: aborted });
  });

  it('wins over an error that comes with it, and over one that comes later', async () => {
    const controller = new AbortController();
    const failing = {
      ...heedless().model,
      doGenerate: () => {
        controller.abort();
        throw new Error('too late');
      },
      doStream: async () => {
        await turn();
        throw new Error('much too late');
      },
    };
    expect(await aiSdk(failing as never).generate(question(controller.signal))).toMatchObject({ failure: aborted });
    const later = new AbortController();
    const work = aiSdk(failing as never).stream(question(later.signal), () => {});
    later.abort();
    expect(await work).toMatchObject({ failure: aborted });
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(unhandled).toEqual([]);
  });

  it('after the end changes nothing, and leaves no listener behind', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    let listeners = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    const outcome = await aiSdk(heedless().model as never).stream(question(signal), () => {});
    controller.abort();
    expect(outcome.ok).toBe(true);
    expect(listeners).toBe(0);
  });
});
