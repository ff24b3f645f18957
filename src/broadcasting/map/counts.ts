import type { JsonObject } from '../../lib/index.ts';

/** Numbers of an object, under names in snake_case: tokens, for example. */
export const toSnakeCounts = (counts: object): JsonObject =>
  Object.fromEntries(
    Object.entries<unknown>({ ...counts })
      .filter((entry): entry is [string, number] => typeof entry[1] === 'number')
      .map(([key, count]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), count]),
  );
