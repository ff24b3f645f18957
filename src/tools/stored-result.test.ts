import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ModelOutput, ShownCall } from './tool.ts';
import { toStoredResult } from './stored-result.ts';
import { toOutputSchema } from './value-schema.ts';

const problems: unknown[] = [];
const call = { id: 'call-1', args: {}, onProblem: (error: unknown) => void problems.push(error) };
const toShownOutput = async (given: unknown) =>
  (await toStoredResult({ name: 't', toModelOutput: () => given as ModelOutput }, 1, call)).output;

// Whether it throws at once or later is all the same to its callers.
const toStored = async (value: unknown): Promise<unknown> => toStoredResult({ name: 't' }, value, call);

describe('toStoredResult', () => {
  it('brings a result into its stored form', async () => {
    expect(await toStoredResult({ name: 't' }, { at: new Date(0), none: undefined, big: 1n }, call)).toEqual({
      value: { at: '1970-01-01T00:00:00.000Z', big: '1' },
    });
    expect(await toStoredResult({ name: 't' }, undefined, call)).toEqual({ value: null });
  });

  it('does not repeat an output that follows from the value', async () => {
    expect(Object.keys(await toStoredResult({ name: 't' }, 'text', call))).toEqual(['value']);
  });

  it('shows the model what toModelOutput gives', async () => {
    expect(await toShownOutput('words')).toEqual({ type: 'text', value: 'words' });
    expect(await toShownOutput('')).toEqual({ type: 'text', value: '(empty text)' });
    expect(await toShownOutput({ a: 1 })).toEqual({ type: 'json', value: { a: 1 } });
    expect(await toShownOutput(undefined)).toEqual({ type: 'json', value: null });
    expect(await toShownOutput(Promise.resolve('later'))).toEqual({ type: 'text', value: 'later' });
  });

  it('knows content parts by their form', async () => {
    const parts = [
      { type: 'text', text: 'A map:' },
      { type: 'image', data: 'AAAA', mediaType: 'image/png' },
      { type: 'file', id: 'f1', mediaType: 'text/plain' },
    ];
    expect(await toShownOutput(parts)).toEqual({ type: 'content', parts });
    expect(await toShownOutput([])).toEqual({ type: 'json', value: [] });
    expect(await toShownOutput([{ type: 'file', name: 'a.txt' }])).toEqual({ type: 'json', value: [{ type: 'file', name: 'a.txt' }] });
    expect(await toShownOutput([{ type: 'reasoning', text: 'hm' }])).toMatchObject({ type: 'json' });
    expect(await toShownOutput([{ type: 'text', text: '' }])).toEqual({ type: 'text', value: '(empty text)' });
  });

  it('parses the result by its output schema, and shows what was parsed', async () => {
    const tool = {
      name: 't',
      output: toOutputSchema('t', z.object({ n: z.coerce.number() })),
      toModelOutput: ({ n }: { n: number }) => n + 1,
    };
    expect(await toStoredResult(tool, { n: '3', more: 1 }, call)).toEqual({ value: { n: 3 }, output: { type: 'json', value: 4 } });
    await expect(toStoredResult(tool, {}, call)).rejects.toThrow('The result of "t" does not fit its output schema: n: Invalid input');
  });

  it.each([
    ['a Map', new Map(), 'it is a Map; turn it into an object'],
    ['something too large', 'x'.repeat(1_000_001), 'it takes 1000003 bytes as JSON, and at most 999900 can be stored'],
    ['something too deep', Array.from({ length: 70 }).reduce((inner) => [inner], 0), 'is nested deeper than 64 levels'],
    [
      'a getter that throws',
      {
        get a() {
          throw new Error('no');
        },
      },
      'a could not be read: no',
    ],
  ])('refuses %s by its place', async (_name, value, problem) => {
    await expect(toStored(value)).rejects.toThrow('The result of "t" cannot be stored: ');
    await expect(toStored(value)).rejects.toThrow(problem);
    // The work is done: the model reads the result itself, and the host hears why.
    expect(await toShownOutput(value)).toBeUndefined();
    expect(String(problems.at(-1))).toContain('What toModelOutput of "t" gave cannot be stored: ');
  });

  it('tells toModelOutput which call it shows', async () => {
    const tool = { name: 't', toModelOutput: (_: never, { toolCallId, args }: ShownCall) => `${toolCallId} ${JSON.stringify(args)}` };
    expect((await toStoredResult(tool, 1, { id: 'call-7', args: { a: 1 } })).output).toEqual({ type: 'text', value: 'call-7 {"a":1}' });
  });

  it('refuses a circle', async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    await expect(toStored(circle)).rejects.toThrow('self refers back to a value that contains it');
  });
});
