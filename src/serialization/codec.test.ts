import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../lib/index.ts';
import { DamagedDataError, InvalidArgumentError, isRecord } from '../lib/index.ts';
import type { Codec } from './index.ts';
import { createCodec, NewerSchemaError, WrongKindError } from './index.ts';

interface Note {
  readonly title: string;
  readonly tags: readonly string[];
  readonly body: Json;
  readonly unknown: JsonObject;
}

const asText = (value: unknown, path: string): string => {
  if (typeof value !== 'string') throw new DamagedDataError(path, 'expected a string');
  return value;
};

// Schema 1: {name, body}; schema 2: {title, body}; schema 3: {title, tags, body}.
const notes: Codec<Note> = createCodec<Note>({
  kind: 'note',
  version: 3,
  encode: ({ title, tags, body, unknown }) => ({ ...unknown, title, tags, body }),
  decode: (data) => ({
    title: data.string('title'),
    tags: data.array('tags', asText),
    body: data.json('body'),
    unknown: data.rest(['title', 'tags', 'body']),
  }),
  upgrades: {
    1: ({ name = '', ...rest }) => ({ ...rest, title: name }),
    2: (data) => ({ ...data, tags: [] }),
  },
  downgrade: ({ tags: _, ...rest }) => rest,
});
const note: Note = { title: 'a', tags: ['x'], body: { deep: [1, null] }, unknown: {} };
const written = { kind: 'note', schema: 3, data: { title: 'a', tags: ['x'], body: { deep: [1, null] } } };

function deepFreeze<Value>(value: Value): Value {
  if (Array.isArray(value)) for (const item of value as readonly unknown[]) deepFreeze(item);
  else if (isRecord(value)) for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}

test('a value is written with its kind and schema, and read again', () => {
  expect(notes.encode(note)).toEqual(written);
  expect(notes.decode(written)).toEqual(note);
  expect(notes.parse(notes.stringify(note))).toEqual(note);
});

test('older schemas are upgraded one by one', () => {
  const expected = { title: 'a', tags: [], body: 1, unknown: {} };
  expect(notes.decode({ kind: 'note', schema: 1, data: { name: 'a', body: 1 } })).toEqual(expected);
  expect(notes.decode({ kind: 'note', schema: 2, data: { title: 'a', body: 1 } })).toEqual(expected);
});

test('fields this version does not know are kept and written again', () => {
  const newer = { kind: 'note', schema: 3, data: { title: 'a', tags: [], body: 1, colour: 'red' } };
  expect(notes.encode(notes.decode(newer))).toEqual(newer);
});

test('the previous schema can be written for one release', () => {
  const envelope = notes.encode(note, { previousSchema: true });
  expect(envelope).toEqual({ kind: 'note', schema: 2, data: { title: 'a', body: { deep: [1, null] } } });
  expect(JSON.parse(notes.stringify(note, { previousSchema: true }))).toEqual(envelope);
  expect(notes.decode(envelope)).toEqual({ ...note, tags: [] });
});

test('where there is no way back, asking for it is misuse', () => {
  const first = createCodec<JsonObject>({
    kind: 'a',
    version: 1,
    encode: (data) => data,
    decode: (data) => data.rest([]),
    downgrade: (data) => data,
  });
  const second = createCodec<JsonObject>({ kind: 'a', version: 2, encode: (data) => data, decode: (data) => data.rest([]) });
  expect(() => first.encode({}, { previousSchema: true })).toThrow(InvalidArgumentError);
  expect(() => second.stringify({}, { previousSchema: true })).toThrow(InvalidArgumentError);
});

test('another kind is named, and so is the expected one', () => {
  const attempt = (): unknown => notes.decode({ ...written, kind: 'song' });
  expect(attempt).toThrow(WrongKindError);
  expect(attempt).toThrow(expect.objectContaining({ code: 'wrong-kind', expected: 'note', found: 'song' }));
  expect(attempt).toThrow('Expected data of kind "note", found kind "song".');
});

test('a newer schema is refused, with the advice to update', () => {
  const attempt = (): unknown => notes.decode({ ...written, schema: 4 });
  expect(attempt).toThrow(NewerSchemaError);
  expect(attempt).toThrow(expect.objectContaining({ code: 'newer-schema', kind: 'note', found: 4, supported: 3 }));
  expect(attempt).toThrow(/written by a newer version.*The data was left unchanged\. Update Stepline\.$/);
});

test.each<[string, unknown, string]>([
  ['nothing', undefined, ''],
  ['null', null, ''],
  ['a list', [written], ''],
  ['text', 'note', ''],
  ['no kind', { schema: 3, data: {} }, 'kind'],
  ['a kind that is no text', { ...written, kind: 7 }, 'kind'],
  ['no schema', { kind: 'note', data: {} }, 'schema'],
  ['schema as text', { ...written, schema: '3' }, 'schema'],
  ['schema 0', { ...written, schema: 0 }, 'schema'],
  ['half a schema', { ...written, schema: 2.5 }, 'schema'],
  ['schema NaN', { ...written, schema: NaN }, 'schema'],
  ['no data', { kind: 'note', schema: 3 }, 'data'],
  ['data that is a list', { ...written, data: [] }, 'data'],
  ['a field missing', { ...written, data: { tags: [], body: 1 } }, 'data.title'],
  ['a wrong item', { ...written, data: { title: 'a', tags: ['x', 1], body: 1 } }, 'data.tags[1]'],
  ['old data that is no JSON', { kind: 'note', schema: 1, data: { name: new Map() } }, 'data'],
])('%s is damaged data', (_, input, path) => {
  const attempt = (): unknown => notes.decode(input);
  expect(attempt).toThrow(DamagedDataError);
  expect(attempt).toThrow(expect.objectContaining({ path }));
});

test.each(['', '{', 'undefined', JSON.stringify(written).slice(0, -1), JSON.stringify(written) + '}'])(
  'the text %j is damaged data',
  (text) => {
    expect(() => notes.parse(text)).toThrow(DamagedDataError);
  },
);

test('every cut of the stored text is noticed', () => {
  const text = notes.stringify(note);
  for (let end = 0; end < text.length; end += 1) expect(() => notes.parse(text.slice(0, end))).toThrow(DamagedDataError);
});

test('a missing upgrade is damaged data that says which', () => {
  const gap = createCodec<JsonObject>({
    kind: 'a',
    version: 3,
    encode: (data) => data,
    decode: (data) => data.rest([]),
    upgrades: { 2: (data) => data },
  });
  expect(() => gap.decode({ kind: 'a', schema: 1, data: {} })).toThrow('there is no migration from schema 1 to 2');
  expect(gap.decode({ kind: 'a', schema: 2, data: { b: 1 } })).toEqual({ b: 1 });
});

test('whatever a reader or an upgrade throws becomes damaged data with its cause', () => {
  const broken = createCodec<number>({
    kind: 'a',
    version: 2,
    encode: () => ({}),
    decode: () => {
      throw new TypeError('oops');
    },
    upgrades: {
      1: () => {
        throw new RangeError('too old');
      },
    },
  });
  expect(() => broken.decode({ kind: 'a', schema: 2, data: {} })).toThrow(
    expect.objectContaining({ code: 'damaged-data', cause: new TypeError('oops') }),
  );
  expect(() => broken.decode({ kind: 'a', schema: 1, data: {} })).toThrow(
    expect.objectContaining({ code: 'damaged-data', cause: new RangeError('too old') }),
  );
});

test('a value refused by its own rules is damaged data, a codec inside a codec keeps its errors', () => {
  const strict = createCodec<number>({
    kind: 'strict',
    version: 1,
    encode: () => ({}),
    decode: () => {
      throw new InvalidArgumentError('not like this');
    },
  });
  const outer = createCodec<Note>({ kind: 'outer', version: 1, encode: () => ({}), decode: (data) => notes.decode(data.raw['note']) });
  expect(() => strict.decode({ kind: 'strict', schema: 1, data: {} })).toThrow(DamagedDataError);
  expect(() => outer.decode({ kind: 'outer', schema: 1, data: { note: { ...written, schema: 9 } } })).toThrow(NewerSchemaError);
});

test('an upgrade that writes into what it is given does not reach the input', () => {
  const careless = createCodec<JsonObject>({
    kind: 'a',
    version: 2,
    encode: (data) => data,
    decode: (data) => data.rest([]),
    upgrades: {
      1: (data) => {
        const inner = data['inner'] as { n: number };
        inner.n += 1;
        return data;
      },
    },
  });
  const input = deepFreeze({ kind: 'a', schema: 1, data: { inner: { n: 1 } } });
  expect(careless.decode(input)).toEqual({ inner: { n: 2 } });
  expect(input).toEqual({ kind: 'a', schema: 1, data: { inner: { n: 1 } } });
});

test.each([
  ['', 1],
  ['a', 0],
  ['a', 1.5],
  ['a', NaN],
])('a codec of kind %j and version %d is misuse', (kind, version) => {
  expect(() => createCodec<JsonObject>({ kind, version, encode: (data) => data, decode: (data) => data.rest([]) })).toThrow(
    InvalidArgumentError,
  );
});

test('random data of any schema survives the way through JSON, and frozen input stays untouched', () => {
  // Holds: fast-check's jsonValue makes JSON values only.
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json);
  const extra = fc.dictionary(fc.string(), json).map((fields) => {
    const { name: _name, title: _title, tags: _tags, body: _body, ...rest } = fields;
    return rest;
  });
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string()), json, extra, (title, tags, body, unknown) => {
      const value: Note = { title, tags, body, unknown };
      const envelope = deepFreeze(notes.encode(value));
      const text = JSON.stringify(envelope);
      expect(notes.decode(envelope)).toEqual(notes.parse(text));
      expect(JSON.stringify(notes.encode(notes.decode(envelope)))).toBe(text);
      const old = deepFreeze({ kind: 'note', schema: 1, data: { ...unknown, name: title, body } });
      expect(notes.decode(old)).toEqual({ ...notes.decode(envelope), tags: [] });
      expect(JSON.stringify(envelope)).toBe(text);
    }),
  );
});
