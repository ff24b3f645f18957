// Blocks in the order in which they are shown.
// Owns:     the order.
// Does not: know what a block shows.
// B2. Lists share the pages that have not changed: a change among ten thousand blocks copies one page of them.
import type { Block } from './block.ts';

/** Blocks that stand together. A page that was handed out never changes. */
export interface BlockPage {
  readonly blocks: readonly Block[];
}

/** A page while a list is changed. */
interface OwnPage extends BlockPage {
  readonly blocks: Block[];
}

/** Most blocks of a page. */
const largestPage = 64;

const compare = (one: Block, other: Block): number =>
  one.position - other.position || (one.key < other.key ? -1 : one.key > other.key ? 1 : 0);

/** Returns the number of items before which `isBefore` holds; it must hold for all of them or for none behind. */
function countWhile<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && isBefore(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of the page that has a block, or would have it. */
function findPage(pages: readonly BlockPage[], block: Block): number {
  const starts = ({ blocks: [first] }: BlockPage): boolean => first !== undefined && compare(first, block) <= 0;
  return Math.max(0, countWhile(pages, starts) - 1);
}

/** A list that never changes. */
export class BlockList {
  /** None of them is empty. */
  readonly pages: readonly BlockPage[];

  constructor(pages: readonly BlockPage[] = []) {
    this.pages = pages;
  }

  /** Returns the page of a block that is in the list. */
  findPage(block: Block): BlockPage | undefined {
    return this.pages[findPage(this.pages, block)];
  }

  /** Returns a copy that can be changed. */
  edit(): BlockListEdit {
    return new BlockListEdit(this);
  }
}

/** A copy of a list while it is changed. */
export class BlockListEdit {
  readonly #before: BlockList;
  #pages: BlockPage[] | undefined;
  /** Pages that nobody else has. */
  readonly #own = new Set<BlockPage>();

  constructor(before: BlockList) {
    this.#before = before;
  }

  /** Adds a block, in place of the one before if there was one. */
  put(block: Block, before: Block | undefined): void {
    if (before !== undefined && before.position === block.position) {
      const [page, at] = this.#locate(before);
      page.blocks[at] = block;
      return;
    }
    if (before !== undefined) this.#remove(before);
    this.#insert(block);
  }

  /** Returns the list as it is now; the one before if nothing has changed. This copy must not be changed any more. */
  finish(): BlockList {
    return this.#pages === undefined ? this.#before : new BlockList(this.#pages);
  }

  #insert(block: Block): void {
    const [page, at, index] = this.#locate(block);
    page.blocks.splice(at, 0, block);
    if (page.blocks.length <= largestPage) return;
    // Blocks mostly come at one end: the page at that end stays small, the other one full.
    const isLast = at === page.blocks.length - 1;
    const half = { blocks: page.blocks.splice(isLast ? at : largestPage >> 1) };
    this.#own.add(half);
    this.#getPages().splice(index + 1, 0, half);
  }

  #remove(block: Block): void {
    const [page, at, index] = this.#locate(block);
    page.blocks.splice(at, 1);
    if (page.blocks.length === 0) this.#getPages().splice(index, 1);
  }

  /** Finds the place of a block, in a page that may be changed. */
  #locate(block: Block): readonly [page: OwnPage, at: number, index: number] {
    const pages = this.#getPages();
    const index = findPage(pages, block);
    const found = pages[index];
    const page = this.#ownPage(found);
    if (page !== found) pages[index] = page;
    return [page, countWhile(page.blocks, (each) => compare(each, block) < 0), index];
  }

  #getPages(): BlockPage[] {
    this.#pages ??= [...this.#before.pages];
    return this.#pages;
  }

  #ownPage(page: BlockPage | undefined): OwnPage {
    // Holds: a page that only this copy has was made with a list of its own.
    if (page !== undefined && this.#own.has(page)) return page as OwnPage;
    const copy = { blocks: [...(page?.blocks ?? [])] };
    this.#own.add(copy);
    return copy;
  }
}
