import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../lib/index.ts';
import { Message, MessageStore, SectionName } from '../messages/index.ts';
import type { BoardWrite } from './board.ts';
import { findArtifactNameProblem, Board, checkArtifact, withWrites } from './board.ts';

const empty = Board.in(MessageStore.empty());
const write = (id: string, artifact: string, version: number, author?: string): BoardWrite => ({
  id,
  artifact,
  version,
  content: `${artifact} ${version}`,
  author,
});

describe('a board', () => {
  test('is empty where nothing was written', () => {
    expect([empty.isEmpty, empty.names, empty.artifacts, empty.get('a'), empty.text('a'), empty.toJSON()]).toStrictEqual([
      true,
      [],
      [],
      undefined,
      undefined,
      {},
    ]);
  });

  test('keeps every version with its author, oldest first (B1, B2)', () => {
    const board = empty.with('a', 'one', 'ann').with('b', 'other').with('a', 'two', 'bob');
    expect(board.get('a')).toStrictEqual({
      name: 'a',
      version: 2,
      content: 'two',
      author: 'bob',
      versions: [
        { version: 1, content: 'one', author: 'ann' },
        { version: 2, content: 'two', author: 'bob' },
      ],
    });
    expect(board.get('b')).toStrictEqual({ name: 'b', version: 1, content: 'other', versions: [{ version: 1, content: 'other' }] });
    expect([board.names, board.text('a'), board.isEmpty]).toStrictEqual([['a', 'b'], 'two', false]);
    expect(board.artifacts.map(({ name, version }) => [name, version])).toStrictEqual([
      ['a', 2],
      ['b', 1],
    ]);
  });

  test('never changes: writing gives the next one', () => {
    const one = empty.with('a', 'one');
    const before = JSON.stringify(one);
    one.with('a', 'two').with('b', 'three');
    expect([JSON.stringify(one), empty.isEmpty, one.get('a')?.versions.length]).toStrictEqual([before, true, 1]);
  });

  test('as JSON is every artifact as it stands', () => {
    expect(JSON.parse(JSON.stringify(empty.with('a', '').with('a', 'x', 'ann').with('b', 'y')))).toStrictEqual({
      a: { version: 2, content: 'x', author: 'ann' },
      b: { version: 1, content: 'y' },
    });
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '…', '名前', 'a b', 'a/b', '"', '1'])(
    'has room for an artifact called %s',
    (name) => {
      expect(empty.get(name)).toBeUndefined();
      const board = empty.with(name, 'x');
      expect([board.names, board.text(name), Object.keys(board.toJSON())]).toStrictEqual([[name], 'x', [name]]);
      expect(Board.in(withWrites(MessageStore.empty(), [write('1', name, 1)])).text(name)).toBe(`${name} 1`);
    },
  );

  test('tells names apart that differ by case', () => {
    expect(empty.with('Draft', 'x').with('draft', 'y').names).toStrictEqual(['Draft', 'draft']);
  });
});

describe('an artifact as data', () => {
  test.each([
    ['{"price": 4}', { price: 4 }],
    ['```json\n{"price": 4}\n```', { price: 4 }],
    ['\n```\n[1]\n```\n', [1]],
    ['4', 4],
    ['null', null],
    ['""', ''],
    ['Four.', 'Four.'],
    ['', ''],
    ['{"price": 4', '{"price": 4'],
    ['```json\nno\n```', '```json\nno\n```'],
    ['Here:\n```json\n{}\n```', 'Here:\n```json\n{}\n```'],
  ])('of %j is %j', (content, value) => {
    expect(empty.with('a', 'before').with('a', content).value('a')).toStrictEqual(value);
  });

  test('is nothing where there is none', () => {
    expect([empty.value('a'), empty.with('b', '4').value('a')]).toStrictEqual([undefined, undefined]);
  });
});

describe('a name for an artifact', () => {
  test.each(['a', 'a b', 'x'.repeat(100), 'draft.md', 'ä', '-', '🫖', '🫖'.repeat(100), '"'])('may be %j', (name) => {
    expect(findArtifactNameProblem(name)).toBeUndefined();
  });

  const refused = [
    ...['', ' ', ' a', 'a ', 'a\u00a0', 'a\nb', 'a\rb', '\n', 'a\n', 'a\tb', 'a\u0000b', 'a\u001b[2Jb', 'a\u007fb', 'a\u0085b'],
    ...['a\u2028b', 'a\u2029b', 'a\u202eb', 'a\ud800b', 'x'.repeat(101), '🫖'.repeat(101), undefined, null, 4, {}, ['a']],
  ];
  test.each(refused)('cannot be %j', (name) => {
    expect(findArtifactNameProblem(name)).toMatch(/1 to 100 characters/);
    expect(() => checkArtifact(name, 'x')).toThrow(InvalidArgumentError);
  });

  test.each([undefined, null, 4, { a: 1 }, ['x'], new Date(0)])('stands for text alone, not for %j', (content) => {
    expect(() => checkArtifact('a', content)).toThrow(/JSON text/);
  });

  test('and empty content is content', () => {
    expect(() => {
      checkArtifact('a', '');
    }).not.toThrow();
    expect(empty.with('a', '').text('a')).toBe('');
  });
});

describe('in a store', () => {
  test('a board is read as it was written, from a section that no model reads', () => {
    const store = withWrites(MessageStore.fromMessages([Message.user('Hello')]), [
      write('1', 'a', 1, 'ann'),
      write('2', 'b', 1),
      write('3', 'a', 2, 'bob'),
    ]);
    const board = Board.in(store);
    expect(board.get('a')?.versions.map(({ version, content, author }) => [version, content, author])).toStrictEqual([
      [1, 'a 1', 'ann'],
      [2, 'a 2', 'bob'],
    ]);
    expect(board.get('b')).not.toHaveProperty('author');
    expect(store.section(SectionName.Messages).length).toBe(1);
    expect(
      store
        .toMessages()
        .toArray()
        .map(({ text }) => text),
    ).toStrictEqual(['Hello']);
  });

  test('messages that are of no artifact are passed over', () => {
    const store = MessageStore.empty().append('board', Message.user('x'), Message.user('y', { metadata: { artifact: 4, version: 1 } }));
    expect(Board.in(store).isEmpty).toBe(true);
  });

  test('versions are counted by their place, whatever number stands on them (B2)', () => {
    const createVersionMessage = (content: string, version: unknown): Message =>
      Message.user(content, { metadata: { artifact: 'a', version } as never });
    const store = MessageStore.empty().append(
      'board',
      createVersionMessage('x', 7),
      createVersionMessage('y', 7),
      createVersionMessage('z', 'one'),
      createVersionMessage('w', undefined),
    );
    expect(
      Board.in(store)
        .get('a')
        ?.versions.map(({ version, content }) => `${version} ${content}`),
    ).toStrictEqual(['1 x', '2 y', '3 z', '4 w']);
  });
});

test('a board built by writing is the board that a store keeps', () => {
  const writes = fc.array(
    fc.record({ name: fc.constantFrom('a', 'b', 'c'), content: fc.string(), author: fc.constantFrom('ann', 'bob', undefined) }),
  );
  fc.assert(
    fc.property(writes, (list) => {
      let board = empty;
      const kept = list.map(({ name, content, author }, index): BoardWrite => {
        board = board.with(name, content, author);
        return { id: String(index), artifact: name, version: board.get(name)?.version ?? 0, content, author };
      });
      const read = Board.in(withWrites(MessageStore.empty(), kept));
      expect(read.artifacts).toStrictEqual(board.artifacts);
      for (const { versions } of read.artifacts)
        expect(versions.map(({ version }) => version)).toStrictEqual(versions.map((_, at) => at + 1));
    }),
  );
});
