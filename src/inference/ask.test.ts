import { expect, test, vi } from 'vitest';
import { textPart } from '../messages/index.ts';
import { ask, modelLike, modelName } from './ask.ts';
import type { Model, ModelOutcome } from './model.ts';

const usage = { input: 0, output: 0, total: 0 };
const done: ModelOutcome = { ok: true, response: { parts: [textPart('done')], usage } };
const failed: ModelOutcome = { ok: false, failure: { type: 'model', code: 'x', message: 'x', retryable: true }, partial: done.response };
const model = (generate: Model['generate']): Model => ({ provider: 'p', modelId: 'm', generate, stream: (request) => generate(request) });

test.each([done, failed])('an aborted signal wins over %o; what had come is kept (M1)', async (outcome) => {
  const controller = new AbortController();
  const deaf = model(async () => {
    controller.abort();
    return outcome;
  });
  for (const onDelta of [undefined, () => undefined]) {
    const given = await ask(deaf, { messages: [], signal: controller.signal }, onDelta);
    expect(given).toMatchObject({ ok: false, failure: { code: 'aborted' } });
  }
});

test('what had come before the abort is kept', async () => {
  const controller = new AbortController();
  const outcome = await ask(
    model(async () => {
      controller.abort();
      return done;
    }),
    { messages: [], signal: controller.signal },
    undefined,
  );
  expect(outcome).toMatchObject({ partial: { parts: [textPart('done')] } });
});

test('a signal that has fired begins nothing and costs nothing', async () => {
  const unused = model(() => Promise.reject(new Error('was asked')));
  const outcome = await ask(unused, { messages: [], signal: AbortSignal.abort() }, undefined);
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'aborted' }, partial: { parts: [], usage } });
});

test('a throw is a failure, at once or later', async () => {
  const thrown = [
    model(() => {
      throw new Error('at once');
    }),
    model(() => Promise.reject(new Error('later'))),
  ];
  for (const each of thrown) {
    expect(await ask(each, { messages: [] }, undefined)).toMatchObject({
      ok: false,
      failure: { type: 'model', retryable: true },
      partial: { usage: { unknownCalls: 1 } },
    });
  }
});

test('a model made like another has its name, and one road for both doors', async () => {
  const heard: boolean[] = [];
  const like = modelLike(
    model(async () => done),
    async (_, onDelta) => {
      heard.push(onDelta !== undefined);
      return done;
    },
  );
  await like.generate({ messages: [] });
  await like.stream({ messages: [] }, () => undefined);
  expect([modelName(like), heard]).toStrictEqual(['p/m', [false, true]]);
});

test('a model that ignores its signal is left behind; what it told before is kept, and what it tells later is dropped', async () => {
  const controller = new AbortController();
  const heard: string[] = [];
  let tell: (text: string) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const deaf: Model = {
    ...model(() => new Promise(() => undefined)),
    stream: (_, onDelta) =>
      new Promise((_resolve, reject) => {
        tell = (text) => {
          onDelta({ type: 'text', text });
        };
        fail = reject;
      }),
  };
  const whole = ask(deaf, { messages: [], signal: controller.signal }, undefined);
  const streamed = ask(deaf, { messages: [], signal: controller.signal }, (delta) => heard.push(delta.type));
  tell('Hel');
  controller.abort();
  expect(await whole).toMatchObject({ ok: false, failure: { code: 'aborted' }, partial: { usage: { unknownCalls: 1 } } });
  expect(await streamed).toMatchObject({ ok: false, failure: { code: 'aborted' }, partial: { parts: [textPart('Hel')] } });
  tell('lo');
  fail(new Error('late'));
  expect(heard).toStrictEqual(['text']);
});

test('listeners that throw are reported, and the model does not notice', async () => {
  const complaints = vi.spyOn(console, 'error').mockReturnValue();
  const listener = (): never => {
    throw new Error('listener');
  };
  const careless: Model = {
    ...model(async () => done),
    stream: async ({ onActivity }, onDelta) => {
      onActivity?.();
      onDelta({ type: 'text', text: 'done' });
      return done;
    },
  };
  expect(await ask(careless, { messages: [], onActivity: listener }, listener)).toBe(done);
  expect(complaints).toHaveBeenCalledTimes(2);
  complaints.mockRestore();
});
