import { expect, test } from 'vitest';
import { RunPlaces } from './run-permit.ts';

/** Tells in which order places were given. */
function createPlaces(size?: number) {
  const places = new RunPlaces(new AbortController().signal, size);
  const given: string[] = [];
  const take = (name: string, most?: number) => {
    const place = places.take(most);
    if (place.granted === undefined) given.push(name);
    else void place.granted.then(() => given.push(name));
    return place;
  };
  return { take, given };
}

test('as many get a place as there are, the others in the order in which they came (U1)', async () => {
  const { take, given } = createPlaces(2);
  const [one] = ['one', 'two', 'three', 'four'].map((name) => take(name));
  expect(given).toStrictEqual(['one', 'two']);
  one?.free();
  await Promise.resolve();
  expect(given).toStrictEqual(['one', 'two', 'three']);
});

test('an exclusive place is given when all others are free, and nobody gets another meanwhile (U2)', async () => {
  const { take, given } = createPlaces();
  const other = take('other');
  const last = take('last', 1);
  expect(given).toStrictEqual(['other']);
  other.free();
  await Promise.resolve();
  expect(given).toStrictEqual(['other', 'last']);
  take('later');
  take('much later');
  expect(given).toStrictEqual(['other', 'last']);
  last.free();
  await Promise.resolve();
  expect(given).toStrictEqual(['other', 'last', 'later', 'much later']);
});

test('a second exclusive place that is given back early lets nobody in beside the first (U2)', async () => {
  const { take, given } = createPlaces();
  take('last', 1);
  const second = take('second', 1);
  take('later');
  second.grantNow();
  second.free();
  await Promise.resolve();
  expect(given).toStrictEqual(['last', 'second']);
});

test('a place that is given back before it was given keeps nobody waiting', () => {
  const { take, given } = createPlaces();
  take('other');
  take('last', 1).free();
  take('later');
  expect(given).toStrictEqual(['other', 'later']);
});
