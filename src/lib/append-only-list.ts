// The append-only list
// Owns:     one backing array, shared by all versions that grew out of each other.
// Does not: change or remove items, or freeze the items themselves.
// A1. A list never changes: what it answered once it answers always, whatever is appended to it or to its relatives.
// A2. Appending writes in place only when this list's end is the end of the backing array; otherwise it copies first.
//     An empty list always starts a new array, so that a shared empty list keeps nothing alive.
// A3. So a chain of appends copies nothing, and each branch off the chain copies once.
// A4. Items to append are read to their end before anything is written: a source that throws, or that appends to this very list, does no harm.
// A5. `toArray` is made once per version and frozen.
// A6. Deferred items are read at most once, all together, when one of them is accessed. Appending, the length and later items do not
//     access them.

import { DamagedDataError } from './damaged-data-error.ts';

const emptyArray = <Item>(): Item[] => [];

/** Deferred items at the beginning of a list. */
export interface EarlierItems<Item> {
  readonly count: number;
  /** Reads them all. */
  readonly read: () => readonly Item[];
}

/** The earlier items of one backing array. */
class Unread<Item> {
  /** Number of items, from the first on, that are not read yet. */
  count: number;
  readonly #read: EarlierItems<Item>['read'];

  constructor({ count, read }: EarlierItems<Item>) {
    this.count = count;
    this.#read = read;
  }

  readInto(backing: Item[]): void {
    const items = this.#read();
    if (items.length !== this.count) throw new DamagedDataError('', `expected ${this.count} earlier items, found ${items.length}`);
    for (const [index, item] of items.entries()) backing[index] = item;
    this.count = 0;
  }
}

/** A list that is immutable to its readers and cheap to extend. */
export class AppendOnlyList<Item> implements Iterable<Item> {
  readonly length: number;
  readonly #backing: Item[];
  readonly #unread: Unread<Item> | undefined;
  #array: readonly Item[] | undefined;

  private constructor(backing: Item[], length: number, unread?: Unread<Item>) {
    this.#backing = backing;
    this.length = length;
    this.#unread = unread;
  }

  /** A list without items. */
  static empty<Item>(): AppendOnlyList<Item> {
    return new AppendOnlyList<Item>([], 0);
  }

  /** A list of the given items; the source is copied. */
  static from<Item>(items: Iterable<Item>): AppendOnlyList<Item> {
    if (items instanceof AppendOnlyList) return items as AppendOnlyList<Item>; // Holds: an iterable of Item that is a list is a list of Item.
    const backing = [...items];
    return new AppendOnlyList(backing, backing.length);
  }

  /** A list whose earlier items are read when one of them is accessed. */
  static withEarlier<Item>(earlier: EarlierItems<Item>, later: readonly Item[]): AppendOnlyList<Item> {
    const backing = new Array<Item>(earlier.count).concat(later);
    return new AppendOnlyList(backing, backing.length, new Unread(earlier));
  }

  /** A list of the items of several lists, one after the other. */
  static join<Item>(lists: readonly AppendOnlyList<Item>[]): AppendOnlyList<Item> {
    const backing = emptyArray<Item>().concat(...lists.map((list) => list.#view()));
    return new AppendOnlyList(backing, backing.length);
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  get last(): Item | undefined {
    return this.at(-1);
  }

  /** The item at `index`; negative counts from the end. */
  at(index: number): Item | undefined {
    const position = index < 0 ? this.length + index : index;
    return position < this.length ? this.#readFrom(position)[position] : undefined;
  }

  /** The list with one more item. */
  append(item: Item): AppendOnlyList<Item> {
    const backing = this.#extendable();
    backing.push(item);
    return this.#extend(backing);
  }

  /** The list with all the items behind it; the same list when there are none. */
  appendAll(items: Iterable<Item>): AppendOnlyList<Item> {
    const added: readonly Item[] = [...items];
    if (added.length === 0) return this;
    const backing = this.#extendable();
    // Not push(...added): a long spread overflows the stack.
    for (const item of added) backing.push(item);
    return this.#extend(backing);
  }

  /** Returns the items appended since an earlier version of this list; undefined if this list does not begin with it. */
  since(earlier: AppendOnlyList<Item>): readonly Item[] | undefined {
    if (earlier.length > this.length) return undefined;
    // On the same array both have the same beginning; else each item has to be looked at.
    if (earlier.#backing === this.#backing) return this.#readFrom(earlier.length).slice(earlier.length, this.length);
    const items = this.#readFrom(0);
    const isBeginning = earlier
      .#readFrom(0)
      .slice(0, earlier.length)
      .every((item, index) => item === items[index]);
    return isBeginning ? items.slice(earlier.length, this.length) : undefined;
  }

  /** True if both are versions of one list, so that the shorter one is a beginning of the longer one. Does not look at the items. */
  hasSameOrigin(other: AppendOnlyList<Item>): boolean {
    return this.#backing === other.#backing;
  }

  /** Returns how many of these items, from the first on, stand in the list from a place on. */
  countSame(items: readonly Item[], place: number): number {
    const most = Math.min(items.length, this.length - place);
    const own = this.#readFrom(place);
    let count = 0;
    while (count < most && items[count] === own[place + count]) count += 1;
    return count;
  }

  /** A new array: the given items, then those of the list. Cheaper than to spread `toArray`: engines are slow to copy frozen arrays. */
  copyAfter(first: readonly Item[]): Item[] {
    return emptyArray<Item>().concat(first, this.#view());
  }

  /** A new array of the items from `start` to before `end`; negative counts from the end. */
  slice(start = 0, end: number = this.length): Item[] {
    const first = this.#toPlace(start);
    // Not of a copy: the backing array may be long, and a slice is often short.
    return this.#readFrom(first).slice(first, this.#toPlace(end));
  }

  /** The items as a frozen array. */
  toArray(): readonly Item[] {
    this.#array ??= Object.freeze(this.#readFrom(0).slice(0, this.length));
    return this.#array;
  }

  *[Symbol.iterator](): IterableIterator<Item> {
    let left = this.length;
    // The backing array may be longer than this list, and may grow meanwhile.
    for (const item of this.#readFrom(0)) {
      if (left === 0) return;
      left -= 1;
      yield item;
    }
  }

  /** The backing array, with all items from this index on already read. */
  #readFrom(place: number): Item[] {
    if (this.#unread !== undefined && place < this.#unread.count) this.#unread.readInto(this.#backing);
    return this.#backing;
  }

  /** The place that an index stands for; negative counts from the end. */
  #toPlace(index: number): number {
    const whole = Math.trunc(index) || 0;
    return whole < 0 ? Math.max(0, this.length + whole) : Math.min(whole, this.length);
  }

  /** The items, to be read at once: the array may grow. */
  #view(): readonly Item[] {
    const items = this.#readFrom(0);
    return items.length === this.length ? items : items.slice(0, this.length);
  }

  #extendable(): Item[] {
    if (this.length === 0) return [];
    return this.#backing.length === this.length ? this.#backing : this.#readFrom(0).slice(0, this.length);
  }

  /** Creates the list of an array that #extendable returned, with more items. */
  #extend(backing: Item[]): AppendOnlyList<Item> {
    return new AppendOnlyList(backing, backing.length, backing === this.#backing ? this.#unread : undefined);
  }
}
