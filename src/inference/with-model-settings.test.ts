import { expect, test } from 'vitest';
import { scriptedModel } from '../testing/index.ts';
import { mergeSettings } from './model-settings.ts';
import { withModelSettings } from './with-model-settings.ts';

test('settings of the model stand under those of the request', async () => {
  const inner = scriptedModel([{ text: 'a' }], { repeatLast: true });
  const model = withModelSettings(inner, {
    temperature: 0,
    topP: 0.5,
    headers: { a: '1' },
    providerOptions: { openai: { store: false, x: 1 } },
  });
  await model.generate({
    messages: [],
    settings: { temperature: 1, headers: { b: '2' }, providerOptions: { openai: { x: 2 }, google: { y: 3 } } },
  });
  await model.stream({ messages: [] }, () => undefined);
  expect(inner.calls.map(({ settings }) => settings)).toStrictEqual([
    { temperature: 1, topP: 0.5, headers: { a: '1', b: '2' }, providerOptions: { openai: { store: false, x: 2 }, google: { y: 3 } } },
    { temperature: 0, topP: 0.5, headers: { a: '1' }, providerOptions: { openai: { store: false, x: 1 } } },
  ]);
  expect([model.provider, model.modelId]).toStrictEqual(['scripted', 'script']);
});

test('a setting that is undefined takes nothing away', () => {
  expect(mergeSettings({ seed: 1 }, undefined, { seed: undefined } as never)).toStrictEqual({ seed: 1 });
});

test('a provider named __proto__ harms nothing', () => {
  const merged = mergeSettings({ providerOptions: JSON.parse('{"__proto__":{"x":1}}') as never }, { headers: {} });
  expect(Object.getPrototypeOf(merged.providerOptions)).toBe(Object.prototype);
});
