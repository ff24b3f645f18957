// A state as text in lines: every second line holds the earlier items of a list, which are read when somebody asks for them.
// Owns:     which items stand on lines of their own, and finding them again.
// Does not: check the lines when the state is read. Whoever stores the text has to know that it is unchanged.
// M1. The text is JSON. Read as a whole, as if it had no lines, it is the same state.
// M2. `earlier` beside a list is the number of its line, and the number of items there. It means nothing in text without lines.
import type { EarlierItems, Json, JsonObject, ObjectReader } from '../../lib/index.ts';
import { DamagedDataError, isList, isRecord, parseJsonText } from '../../lib/index.ts';

/** A list that is shorter is not worth a line of its own. */
export const leastEarlier = 8;
/** Messages and results at the end that are read at once: those of the last step, for its status and text. */
const laterMessages = 8;
export const laterResults = 1;

/** A state that was written in lines. */
export interface StateLines {
  /** The state, without the items that are on lines of their own. */
  readonly written: unknown;
  readonly lines: readonly string[];
}

/** A text in lines, taken apart. */
export interface TextLines {
  /** JSON text without the lines. */
  readonly text: string;
  readonly lines: readonly string[];
}

/** True for text in lines: JSON that is written otherwise has no line breaks. */
export const hasLines = (text: string): boolean => text.includes('\n');

/** Takes a text apart; undefined if it has no lines. */
export function splitLines(text: string): TextLines | undefined {
  if (!hasLines(text)) return undefined;
  const all = text.split('\n');
  return { text: all.filter((_, index) => index % 2 === 0).join(''), lines: all.filter((_, index) => index % 2 === 1) };
}

const writeItems = (items: readonly Json[]): string => JSON.stringify(items).slice(1, -1);

class LineWriter {
  #lines = 0;

  /** Writes an object with a list, all but the last `later` items of it on a line of their own. */
  write(fields: JsonObject, key: string, later: number): string {
    const { [key]: list = [], ...others } = fields;
    const items = isList(list) ? list : [];
    const count = Math.max(0, items.length - later);
    if (count < leastEarlier) return JSON.stringify(fields);
    const head = JSON.stringify({ ...others, earlier: [this.#lines, count] });
    this.#lines += 1;
    const [earlier, rest] = [writeItems(items.slice(0, count)), writeItems(items.slice(count))];
    return `${head.slice(0, -1)},${JSON.stringify(key)}:[\n${earlier}${rest === '' ? '' : ','}\n${rest}]}`;
  }
}

const getObjects = (list: Json | undefined): readonly JsonObject[] =>
  isList(list) ? list.filter((item): item is JsonObject => isRecord(item)) : [];

const getObject = (value: Json | undefined): JsonObject => (isRecord(value) ? value : {});

/** Writes the data of a state as text in lines, if it is worth that. */
export function writeLines({ store, execution, past, ...others }: JsonObject): string {
  const writer = new LineWriter();
  const sections = getObjects(getObject(store)['sections']).map((section) => writer.write(section, 'messages', laterMessages));
  const current = writer.write(getObject(execution), 'results', laterResults);
  const ended = getObjects(past).map((each) => writer.write(each, 'results', 0));
  const head = JSON.stringify(others).slice(0, -1);
  return `${head},"store":{"sections":[${sections.join(',')}]},"execution":${current},"past":[${ended.join(',')}]}`;
}

function parseLine(text: string, path: string): readonly unknown[] {
  const items = parseJsonText(`[${text.endsWith(',') ? text.slice(0, -1) : text}]`);
  if (!Array.isArray(items)) throw new DamagedDataError(path, 'the line of its earlier items is not valid JSON');
  return items;
}

/** Finds the earlier items of a list; undefined if all of them are in the list. */
export function readEarlier<Item>(
  data: ObjectReader,
  lines: readonly string[] | undefined,
  read: (items: readonly unknown[]) => readonly Item[],
): EarlierItems<Item> | undefined {
  const earlier: unknown = lines === undefined ? undefined : data.raw['earlier'];
  if (earlier === undefined || earlier === null) return undefined;
  const items: readonly unknown[] = Array.isArray(earlier) ? earlier : [];
  const [place, count] = items;
  const line = typeof place === 'number' ? lines?.[place] : undefined;
  if (line === undefined || typeof count !== 'number' || !Number.isInteger(count) || count < 0)
    throw new DamagedDataError(`${data.path}.earlier`, 'expected the number of a line and the number of its items');
  return { count, read: () => read(parseLine(line, data.path)) };
}
