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

  constructor(pages: readonly (ReadonlyMap<string, Value> | undefined)[] = []) {
    this.#pages = pages;
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
    return new SharedMapEdit(this, this.#pages);
  }
}

/** A copy of a map while it is changed. */
export class SharedMapEdit<Value> {
  readonly #before: SharedMap<Value>;
  #pages: readonly (ReadonlyMap<string, Value> | undefined)[];
  /** Pages that were copied. Undefined if nothing has changed. */
  #own: Map<number, Map<string, Value>> | undefined;

  constructor(before: SharedMap<Value>, pages: readonly (ReadonlyMap<string, Value> | undefined)[]) {
    this.#before = before;
    this.#pages = pages;
  }

  get(key: string): Value | undefined {
    return this.#pages[findPage(key)]?.get(key);
  }

  set(key: string, value: Value): void {
    const index = findPage(key);
    this.#own ??= new Map();
    let page = this.#own.get(index);
    if (page === undefined) {
      page = new Map(this.#pages[index]);
      // The list of pages is copied at the first change.
      if (this.#own.size === 0) this.#pages = [...this.#pages];
      this.#own.set(index, page);
      // Holds: it is a copy by now.
      (this.#pages as (ReadonlyMap<string, Value> | undefined)[])[index] = page;
    }
    page.set(key, value);
  }

  /** Returns the map as it is now; the one before if nothing has changed. This copy must not be changed any more. */
  finish(): SharedMap<Value> {
    return this.#own === undefined ? this.#before : new SharedMap(this.#pages);
  }
}
