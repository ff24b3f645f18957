// A map whose copies share what has not changed, so that adding one of ten thousand entries copies a few dozen.

const pageCount = 256;

function findPage(key: string): number {
  let hash = 0;
  for (let index = 0; index < key.length; index += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0;
  return hash & (pageCount - 1);
}

/** A map that never changes. */
export class SharedMap<Value> {
  readonly #pages: readonly (ReadonlyMap<string, Value> | undefined)[];
  readonly size: number;

  constructor(pages: readonly (ReadonlyMap<string, Value> | undefined)[] = [], size = 0) {
    this.#pages = pages;
    this.size = size;
  }

  get(key: string): Value | undefined {
    return this.#pages[findPage(key)]?.get(key);
  }

  /** Returns its values, in no order. */
  values(): Value[] {
    const values: Value[] = [];
    for (const page of this.#pages) if (page !== undefined) values.push(...page.values());
    return values;
  }

  /** Returns a copy that can be changed. */
  edit(): SharedMapEdit<Value> {
    return new SharedMapEdit(this.#pages, this.size);
  }
}

/** A copy of a map while it is changed. */
export class SharedMapEdit<Value> {
  readonly #pages: (ReadonlyMap<string, Value> | undefined)[];
  readonly #own = new Map<number, Map<string, Value>>();
  #size: number;

  constructor(pages: readonly (ReadonlyMap<string, Value> | undefined)[], size: number) {
    this.#pages = [...pages];
    this.#size = size;
  }

  get(key: string): Value | undefined {
    return this.#pages[findPage(key)]?.get(key);
  }

  set(key: string, value: Value): void {
    const index = findPage(key);
    let page = this.#own.get(index);
    if (page === undefined) {
      page = new Map(this.#pages[index]);
      this.#own.set(index, page);
      this.#pages[index] = page;
    }
    if (!page.has(key)) this.#size += 1;
    page.set(key, value);
  }

  /** Returns the map as it is now. This copy must not be changed any more. */
  finish(): SharedMap<Value> {
    return new SharedMap(this.#pages, this.#size);
  }
}
