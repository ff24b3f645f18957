// How far an open step was read, so that it can be read again from there.
import type { OpenStepItem, OpenStepPlace } from '../../../sessions/index.ts';

const isLater = (one: OpenStepPlace, other: OpenStepPlace): boolean =>
  one.afterEntry > other.afterEntry || (one.afterEntry === other.afterEntry && one.attempt > other.attempt);

const isSame = (one: OpenStepPlace, other: OpenStepPlace): boolean => one.afterEntry === other.afterEntry && one.attempt === other.attempt;

export class OpenStepPosition {
  #place: OpenStepPlace | undefined;
  #isEnded = false;
  #index = 0;
  #answer = 0;
  #received = { text: 0, reasoning: 0 };

  /** Returns what is new of an item. An attempt or an answer that ended while nobody read is ended first. */
  skip(item: OpenStepItem): readonly OpenStepItem[] {
    const place = this.#place;
    if (place === undefined || isLater(item, place)) {
      const isMissed = place !== undefined && !this.#isEnded && place.afterEntry === item.afterEntry;
      return isMissed ? [{ ...this.#getPlace(place), type: 'void' }, item] : [item];
    }
    if (!isSame(item, place) || this.#isEnded) return [];
    if (item.type === 'event') return item.index > this.#index ? [item] : [];
    if (item.type === 'text') return this.#skipText(item, place);
    return [item];
  }

  /** Notes that an item was passed on. */
  advance(item: OpenStepItem): void {
    if (this.#place === undefined || !isSame(item, this.#place)) {
      this.#place = this.#getPlace(item);
      [this.#isEnded, this.#index, this.#answer] = [false, 0, 0];
    }
    if (item.type === 'event') this.#index = item.index;
    else if (item.type === 'text') {
      if (item.answer > this.#answer) [this.#answer, this.#received] = [item.answer, { text: 0, reasoning: 0 }];
      this.#received[item.kind] = item.offset + item.text.length;
    } else if (item.type === 'recorded' || item.answer === undefined) this.#isEnded = true;
  }

  #skipText(item: Extract<OpenStepItem, { readonly type: 'text' }>, place: OpenStepPlace): readonly OpenStepItem[] {
    if (item.answer < this.#answer) return [];
    if (item.answer > this.#answer)
      return this.#answer === 0 ? [item] : [{ ...this.#getPlace(place), type: 'void', answer: this.#answer }, item];
    const received = this.#received[item.kind];
    const skipped = received - item.offset;
    return skipped >= item.text.length ? [] : [{ ...item, offset: item.offset + skipped, text: item.text.slice(skipped) }];
  }

  #getPlace({ execution, step, afterEntry, attempt }: OpenStepPlace): OpenStepPlace {
    return { execution, step, afterEntry, attempt };
  }
}
