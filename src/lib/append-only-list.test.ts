import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { AppendOnlyList } from './append-only-list.ts';

test('an empty list has no items', () => {
  const list = AppendOnlyList.empty<number>();
  expect([list.length, list.isEmpty, list.last, list.at(0), list.at(-1)]).toEqual([0, true, undefined, undefined, undefined]);
  expect([...list]).toEqual([]);
});

test('items are found from the front and from the end', () => {
  const list = AppendOnlyList.from(['a', 'b', 'c']);
  expect([list.at(0), list.at(2), list.at(3), list.at(-1), list.at(-3), list.at(-4)]).toEqual(['a', 'c', undefined, 'c', 'a', undefined]);
  expect(list.last).toBe('c');
});

test('A1: an older version does not see what was appended to it, nor does its running iterator', () => {
  const old = AppendOnlyList.from([1, 2]);
  const iterator = old[Symbol.iterator]();
  iterator.next();
  const longer = old.append(3);
  expect([...iterator]).toEqual([2]);
  expect([old.length, old.at(2), old.last]).toEqual([2, undefined, 2]);
  expect([...longer]).toEqual([1, 2, 3]);
});

test('A1: the source array may change afterwards', () => {
  const source = [1];
  const list = AppendOnlyList.from(source);
  source[0] = 9;
  expect(list.toArray()).toEqual([1]);
});

test('A2: two appends to one version make two branches', () => {
  const trunk = AppendOnlyList.from([1]);
  const left = trunk.append(2);
  const right = trunk.append(3);
  expect([left.append(4).toArray(), right.append(5).toArray()]).toEqual([
    [1, 2, 4],
    [1, 3, 5],
  ]);
});

test('A2: a shared empty list keeps nothing of what was appended to it', () => {
  const copies = vi.spyOn(Array.prototype, 'slice');
  try {
    const shared = AppendOnlyList.empty<number>();
    const lists = [shared.append(1), shared.append(2), shared.appendAll([3])];
    expect(copies).toHaveBeenCalledTimes(0);
    copies.mockRestore();
    expect(lists.map((list) => list.append(9).toArray())).toEqual([
      [1, 9],
      [2, 9],
      [3, 9],
    ]);
  } finally {
    copies.mockRestore();
  }
});

test('A3: 5,000 appends copy nothing, and a branch copies once', () => {
  const copies = vi.spyOn(Array.prototype, 'slice');
  try {
    let list = AppendOnlyList.empty<number>();
    const versions = [list];
    for (let index = 0; index < 5_000; index += 1) versions.push((list = list.append(index)));
    expect(copies).toHaveBeenCalledTimes(0);
    let branch = versions[2_500] ?? list;
    for (let index = 0; index < 100; index += 1) branch = branch.append(-index);
    expect(copies).toHaveBeenCalledTimes(1);
    expect([list.length, branch.length]).toEqual([5_000, 2_600]);
  } finally {
    copies.mockRestore();
  }
});

test('A4: a source that throws midway leaves the list as it was', () => {
  const list = AppendOnlyList.from([1]);
  function* broken(): Generator<number> {
    yield 2;
    throw new Error('no more');
  }
  expect(() => list.appendAll(broken())).toThrow('no more');
  expect(list.append(3).toArray()).toEqual([1, 3]);
});

test('A4: a source that appends to the same list does not mix with it', () => {
  const list = AppendOnlyList.from([1]);
  let inner = list;
  function* meddler(): Generator<number> {
    yield 2;
    inner = list.append(99);
    yield 3;
  }
  const outer = list.appendAll(meddler());
  expect([outer.toArray(), inner.toArray()]).toEqual([
    [1, 2, 3],
    [1, 99],
  ]);
  expect(list.appendAll(list).toArray()).toEqual([1, 1]);
});

test('A5: the array is made once per version, and frozen', () => {
  const list = AppendOnlyList.from([1, 2]);
  expect(list.toArray()).toBe(list.toArray());
  expect(Object.isFrozen(list.toArray())).toBe(true);
  expect(list.append(3).toArray()).toEqual([1, 2, 3]);
});

test('appending nothing and copying a list give the same list', () => {
  const list = AppendOnlyList.from([1]);
  expect(list.appendAll([])).toBe(list);
  expect(AppendOnlyList.from(list)).toBe(list);
});

test('a very long list can be appended at once', () => {
  const many = Array.from({ length: 300_000 }, (_, index) => index);
  expect(AppendOnlyList.from([-1]).appendAll(many).length).toBe(300_001);
});

test('any tree of branches behaves as plain arrays would (A1, A2)', () => {
  const growth = fc.record({
    parent: fc.nat(),
    items: fc.array(fc.integer(), { maxLength: 4 }),
    oneByOne: fc.boolean(),
    look: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(growth, { maxLength: 60 }), (plan) => {
      const lists = [AppendOnlyList.empty<number>()];
      const arrays: number[][] = [[]];
      for (const { parent, items, oneByOne, look } of plan) {
        const list = lists[parent % lists.length] ?? AppendOnlyList.empty<number>();
        const array = arrays[parent % arrays.length] ?? [];
        if (look) list.toArray();
        lists.push(oneByOne ? items.reduce((grown, item) => grown.append(item), list) : list.appendAll(items));
        arrays.push([...array, ...items]);
      }
      expect(lists.map((list) => [...list])).toEqual(arrays);
      expect(lists.map((list) => list.toArray())).toEqual(arrays);
      expect(lists.map((list) => [list.length, list.isEmpty, list.last, list.at(1)])).toEqual(
        arrays.map((array) => [array.length, array.length === 0, array.at(-1), array.at(1)]),
      );
    }),
  );
});

describe('what was appended since', () => {
  const first = AppendOnlyList.from([1, 2]);
  const second = first.append(3);
  const third = second.appendAll([4, 5]);

  test.each<[string, AppendOnlyList<number>, AppendOnlyList<number>, readonly number[] | undefined]>([
    ['the version before', third, second, [4, 5]],
    ['an older version', third, first, [3, 4, 5]],
    ['itself', third, third, []],
    ['an empty list', third, AppendOnlyList.empty(), [1, 2, 3, 4, 5]],
    ['an empty list, of an empty one', AppendOnlyList.empty(), AppendOnlyList.empty(), []],
    ['a later version', first, third, undefined],
    ['another list with the same beginning', third, AppendOnlyList.from([1, 2, 3]), [4, 5]],
    ['another list with the same items', second, AppendOnlyList.from([1, 2, 3]), []],
    ['another list with another beginning', third, AppendOnlyList.from([9]), undefined],
    ['a branch that has grown otherwise', third, second.append(8), undefined],
    ['a branch that has grown as far', second.append(4), first.append(9), undefined],
    ['a branch of the same items', first.append(3).append(4), first.append(3), [4]],
  ])('%s', (_, list, earlier, added) => {
    expect(list.since(earlier)).toEqual(added);
  });

  test('items are the same only if they are the very same', () => {
    const [left, right] = [{ n: 1 }, { n: 1 }];
    expect(AppendOnlyList.from([left]).since(AppendOnlyList.from([right]))).toBeUndefined();
    expect(AppendOnlyList.from([left]).since(AppendOnlyList.from([left]))).toEqual([]);
  });

  test('an older version does not tell what was appended behind it', () => {
    expect([second.since(first), first.since(first)]).toEqual([[3], []]);
  });

  test('what it tells may be changed without harm', () => {
    const added = third.since(first) as number[];
    added.length = 0;
    expect(third.since(first)).toEqual([3, 4, 5]);
  });

  test('it says the same as comparing the items, for any two lists', () => {
    const grow = fc.array(fc.tuple(fc.nat(9), fc.array(fc.nat(1), { maxLength: 2 })), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(grow, fc.nat(9), fc.nat(9), (growth, left, right) => {
        const versions = [AppendOnlyList.empty<number>()];
        for (const [at, items] of growth) versions.push(versions[at % versions.length]!.appendAll(items));
        const [list, earlier] = [versions[left % versions.length]!, versions[right % versions.length]!];
        const isBeginning = earlier.length <= list.length && [...earlier].every((item, index) => item === list.at(index));
        expect(list.since(earlier)).toEqual(isBeginning ? [...list].slice(earlier.length) : undefined);
      }),
    );
  });
});

test('copies of a version hold its items only, after those that are given', () => {
  const list = AppendOnlyList.from([1, 2]);
  list.append(3);
  const copy = list.copyAfter([0]);
  copy.push(9);
  expect(copy).toEqual([0, 1, 2, 9]);
  expect(list.copyAfter([])).toEqual([1, 2]);
  expect(list.slice(-1)).toEqual([2]);
});

test('a joined list holds the items of its lists in order, and grows on its own', () => {
  const [left, right] = [AppendOnlyList.from([1]), AppendOnlyList.from([2, 3])];
  left.append(7);
  const joined = AppendOnlyList.join([left, AppendOnlyList.empty<number>(), right]);
  expect(joined.append(4).toArray()).toEqual([1, 2, 3, 4]);
  expect(joined.toArray()).toEqual([1, 2, 3]);
  expect(right.toArray()).toEqual([2, 3]);
});

describe('A6: earlier items are read on demand', () => {
  const setUp = () => {
    const read = vi.fn(() => ['a', 'b', 'c']);
    return { read, list: AppendOnlyList.withEarlier({ count: 3, read }, ['d', 'e']) };
  };

  test('the length, later items and appending do not read them', () => {
    const { read, list } = setUp();
    const longer = list.append('f').appendAll(['g']);
    expect([list.length, list.last, list.at(3), longer.length, longer.at(-1), longer.since(list)]).toEqual([
      5,
      'e',
      'd',
      7,
      'g',
      ['f', 'g'],
    ]);
    expect(longer.slice(3, -1)).toEqual(['d', 'e', 'f']);
    expect(read).not.toHaveBeenCalled();
    expect([longer.toArray(), list.toArray(), longer.at(0)]).toEqual([['a', 'b', 'c', 'd', 'e', 'f', 'g'], ['a', 'b', 'c', 'd', 'e'], 'a']);
    expect(read).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['an item', (list: AppendOnlyList<string>) => list.at(0)],
    ['a slice', (list: AppendOnlyList<string>) => list.slice(1, 2)[0]],
    ['its iterator', (list: AppendOnlyList<string>) => [...list][0]],
    ['a joined list', (list: AppendOnlyList<string>) => AppendOnlyList.join([list, list]).at(5)],
    ['a copy', (list: AppendOnlyList<string>) => list.copyAfter(['x'])[1]],
    ['a list of other items', (list: AppendOnlyList<string>) => list.since(AppendOnlyList.from(['a']))?.[0]],
  ])('%s has all of them', (_, ask) => {
    const { list } = setUp();
    expect(['a', 'b']).toContain(ask(list));
    expect(list.toArray()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('a branch has them too', () => {
    const { list } = setUp();
    const [left, right] = [list.append('l'), list.append('r')];
    expect([left.toArray(), right.toArray()]).toEqual([
      ['a', 'b', 'c', 'd', 'e', 'l'],
      ['a', 'b', 'c', 'd', 'e', 'r'],
    ]);
  });

  test('every read fails with damaged data if the number of items is wrong', () => {
    const list = AppendOnlyList.withEarlier({ count: 2, read: () => ['a'] }, []);
    expect(() => list.toArray()).toThrow('expected 2 earlier items, found 1');
    expect(() => list.at(1)).toThrow('expected 2 earlier items, found 1');
  });
});

test('versions of one list know each other, branches do not', () => {
  const first = AppendOnlyList.from([1, 2]);
  const second = first.append(3);
  expect([second.hasSameOrigin(first), first.hasSameOrigin(second)]).toEqual([true, true]);
  expect([first.append(3).hasSameOrigin(second), AppendOnlyList.from([1, 2]).hasSameOrigin(first)]).toEqual([false, false]);
});

test('a list counts the items that stand in it from a place on, and none behind its end', () => {
  const list = AppendOnlyList.from([1, 2, 3]);
  list.append(4);
  expect([list.countSame([2, 3, 4], 1), list.countSame([1, 9, 3], 0), list.countSame([], 0), list.countSame([1], 3)]).toEqual([2, 1, 0, 0]);
});

test('a slice of any version is that of an array with its items', () => {
  const index = fc.option(fc.oneof(fc.integer({ min: -8, max: 8 }), fc.constantFrom(-0.5, 1.5, Number.NaN, Infinity, -Infinity)), {
    nil: undefined,
  });
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 3 }), index, index, (items, later, start, end) => {
      const list = AppendOnlyList.from(items);
      const longer = list.appendAll(later);
      expect(list.slice(start, end)).toEqual(items.slice(start, end));
      expect(longer.slice(start, end)).toEqual([...items, ...later].slice(start, end));
    }),
  );
});
