// An open step, as any reader sees it before it is recorded.
// Owns:     the form of its rows, and what a reader has received of it.
// Does not: read a store, or know who writes.
// P1. A reader gets one attempt at a time: its text from the first character on, without a gap and without a double, and each event at
//     most once, in order.
// P2. A later attempt at the same step makes the earlier ones void. A later answer of the same attempt makes only text void. A step that is
//     recorded or parked ends both.
import type { EffectRow } from '../../journal/index.ts';
import { omitUndefined, readArray, readField, readObject, readString } from '../../lib/index.ts';
import type { OpenEvent, OpenStepItem, OpenStepPlace } from './session-runtime.ts';

/** Keys of the rows begin with it. */
export const openStepPrefix = 'open/';

/** A piece of the text of one attempt. */
export type TextItem = Extract<OpenStepItem, { readonly type: 'text' }>;

/** An event of one attempt, as it is stored. */
type StoredEventItem = Extract<OpenStepItem, { readonly type: 'event' }>;

/** An event of one attempt in the process that runs it: it is made plain only if somebody reads or stores it. */
export interface RawEventItem extends OpenStepPlace {
  readonly type: 'raw-event';
  readonly index: number;
  readonly event: object;
}

/** An item of an attempt while it is open. */
export type OpenItem = TextItem | StoredEventItem | RawEventItem;

/** An item that a reader gets, whose event may still have to be made plain. */
export type ReadItem = OpenStepItem | RawEventItem;

/** An item as a row has it: the row says once where it belongs. */
type WithoutPlace<Item> = Item extends OpenStepPlace ? Omit<Item, keyof OpenStepPlace> : never;
export type RowItem = WithoutPlace<TextItem | StoredEventItem>;

export const toPlace = ({ execution, step, afterEntry, attempt }: OpenStepPlace): OpenStepPlace => ({
  execution,
  step,
  afterEntry,
  attempt,
});

export const isSamePlace = (one: OpenStepPlace, other: OpenStepPlace): boolean =>
  one.afterEntry === other.afterEntry && one.attempt === other.attempt;

const isLaterPlace = (one: OpenStepPlace, other: OpenStepPlace): boolean =>
  one.afterEntry > other.afterEntry || (one.afterEntry === other.afterEntry && one.attempt > other.attempt);

/** Takes away the place of an item. */
export function toRowItem(item: TextItem | StoredEventItem): RowItem {
  const { execution: _execution, step: _step, afterEntry: _afterEntry, attempt: _attempt, ...rest } = item;
  return rest;
}

/** Writes items of one attempt as a row of the open step. `n` counts the rows of the attempt. */
export const toOpenRow = (place: OpenStepPlace, items: readonly RowItem[], n: number): EffectRow => ({
  key: `${openStepPrefix}${place.afterEntry}/${place.attempt}/${n}`,
  phase: 'intent',
  body: JSON.stringify({ ...toPlace(place), items }),
});

export const isOpenRow = ({ key }: EffectRow): boolean => key.startsWith(openStepPrefix);

function readItem(value: unknown, path: string): RowItem {
  const data = readObject(value, path);
  if (data.string('type') === 'event') {
    const cut = data.optionalArray('cut', readString);
    // Holds: a runtime wrote it with these fields, and the store has checked that nothing was changed.
    const event = data.object('event').raw as unknown as OpenEvent;
    return { type: 'event', index: data.number('index'), event, ...omitUndefined({ cut }) };
  }
  return {
    type: 'text',
    kind: data.string('kind') === 'reasoning' ? 'reasoning' : 'text',
    answer: data.number('answer'),
    offset: data.number('offset'),
    text: data.string('text'),
    ...omitUndefined({ participant: data.optionalString('participant') }),
  };
}

/** Reads the items of a row. */
export function readOpenRow({ body }: EffectRow): readonly (TextItem | StoredEventItem)[] {
  const data = readObject(JSON.parse(body), 'open step');
  const place = {
    execution: data.number('execution'),
    step: data.number('step'),
    afterEntry: data.number('afterEntry'),
    attempt: data.number('attempt'),
  };
  return readArray(data.raw['items'], 'open step.items', readItem).map((item) => ({ ...place, ...item }));
}

const isProgress = (item: OpenItem, callId?: unknown): item is RawEventItem =>
  item.type === 'raw-event' &&
  readField(item.event, 'type') === 'ToolCallProgress' &&
  (callId === undefined || readField(item.event, 'toolCallId') === callId);

/** Number of items that are searched for earlier progress of the same call. */
const progressWindow = 32;

/** Adds an item to a list: a text is joined to the last one if it continues that, and progress replaces earlier progress of its call. */
export function addItem(items: OpenItem[], next: OpenItem): void {
  const last = items.at(-1);
  if (next.type === 'text') {
    const isJoined = last?.type === 'text' && last.kind === next.kind && last.participant === next.participant && isContinued(last, next);
    if (isJoined) items[items.length - 1] = { ...last, text: last.text + next.text };
    else items.push(next);
    return;
  }
  if (isProgress(next)) {
    const callId = readField(next.event, 'toolCallId');
    const before = items.findLastIndex((item, index) => index >= items.length - progressWindow && isProgress(item, callId));
    if (before !== -1) items.splice(before, 1);
  }
  items.push(next);
}

const isContinued = (last: TextItem, next: TextItem): boolean =>
  last.answer === next.answer && last.offset + last.text.length === next.offset;

/** Leaves out what a later attempt, or a later answer, in the list has made void. */
export function dropVoid<Item extends OpenItem>(items: readonly Item[]): readonly Item[] {
  const last = items.at(-1);
  if (last === undefined) return items;
  const current = items.filter((item) => isSamePlace(item, last));
  const answer = current.reduce((latest, item) => (item.type === 'text' ? Math.max(latest, item.answer) : latest), 0);
  return current.filter((item) => item.type !== 'text' || item.answer === answer);
}

/** The position of one reader in the open step: decides what is new to it. */
export class OpenStepCursor {
  #attempt: OpenStepPlace | undefined;
  #isVoid = false;
  #answer = 0;
  /** Number of characters that were received of each kind. */
  #received = { text: 0, reasoning: 0 };
  /** Index of the last event that was received. */
  #index = 0;
  /** Attempts that began before this entry are over. */
  #floor = 0;

  /** Takes items in their order; returns what is new. */
  take(items: readonly OpenItem[]): readonly ReadItem[] {
    return dropVoid(items).flatMap((item) => [...this.#enter(item), ...this.#receive(item)]);
  }

  /** Takes all that is stored of the open step. If nothing is stored of what was received, its step is recorded, or waits. */
  takeStored(items: readonly OpenItem[]): readonly ReadItem[] {
    const current = this.#attempt;
    const isGone = current !== undefined && !this.#isVoid && items.every(({ afterEntry }) => afterEntry !== current.afterEntry);
    return [...(isGone ? this.endStep(current.afterEntry) : []), ...this.take(items)];
  }

  /** The attempt is void, though no later one has begun yet. */
  endAttempt(): readonly ReadItem[] {
    if (this.#attempt === undefined || this.#isVoid) return [];
    this.#isVoid = true;
    return [{ type: 'void', ...toPlace(this.#attempt) }];
  }

  /** The step whose first attempt began after this entry is recorded, or waits. */
  endStep(afterEntry: number): readonly ReadItem[] {
    this.#floor = Math.max(this.#floor, afterEntry + 1);
    const current = this.#attempt;
    if (current === undefined || current.afterEntry > afterEntry) return [];
    this.#attempt = undefined;
    return [{ type: 'recorded', ...toPlace(current) }];
  }

  /** Goes on to the attempt of an item, if it is a later one. */
  #enter(item: OpenItem): readonly ReadItem[] {
    const current = this.#attempt;
    if (item.afterEntry < this.#floor || (current !== undefined && !isLaterPlace(item, current))) return [];
    const ended = current !== undefined && item.afterEntry > current.afterEntry ? this.endStep(current.afterEntry) : this.endAttempt();
    this.#attempt = toPlace(item);
    this.#isVoid = false;
    this.#index = 0;
    this.#answer = 0;
    return ended;
  }

  #receive(item: OpenItem): readonly ReadItem[] {
    const current = this.#attempt;
    if (current === undefined || this.#isVoid || !isSamePlace(item, current)) return [];
    if (item.type === 'text') return this.#receiveText(item, current);
    if (item.index <= this.#index) return [];
    this.#index = item.index;
    return [item];
  }

  #receiveText(item: TextItem, current: OpenStepPlace): readonly ReadItem[] {
    const { kind, answer, offset, text } = item;
    if (answer < this.#answer) return [];
    const isLater = answer > this.#answer;
    const ended: readonly ReadItem[] = isLater && this.#answer > 0 ? [{ type: 'void', ...toPlace(current), answer: this.#answer }] : [];
    if (isLater) {
      this.#answer = answer;
      this.#received = { text: 0, reasoning: 0 };
    }
    const received = this.#received[kind];
    if (offset > received || offset + text.length <= received) return ended;
    this.#received[kind] = offset + text.length;
    return [...ended, { ...item, offset: received, text: text.slice(received - offset) }];
  }
}
