import type { JsonObject, ReadValue } from '../../lib/index.ts';
import { omitUndefined, present } from '../../lib/index.ts';
import type { Usage } from '../../messages/index.ts';
import { createReader, number, optionalNumber } from './field-readers.ts';

export interface SlimUsage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly reasoning?: number;
  readonly unknown_calls?: number;
}

const counts = {
  input: number,
  output: number,
  cache_read: optionalNumber,
  cache_write: optionalNumber,
  reasoning: optionalNumber,
  unknown_calls: optionalNumber,
} as const;

export const readUsage: ReadValue<SlimUsage> = createReader<SlimUsage>({ ...counts, total: number });
export const readUsageCounts: ReadValue<Omit<SlimUsage, 'total'>> = createReader<Omit<SlimUsage, 'total'>>(counts);

export function writeUsage({ input, output, total, cacheRead, cacheWrite, reasoning, unknownCalls }: Usage): SlimUsage {
  return omitUndefined({ input, output, total, cache_read: cacheRead, cache_write: cacheWrite, reasoning, unknown_calls: unknownCalls });
}

/** Returns usage in its stored form. */
export function toStoredUsage({ input, output, cache_read, cache_write, reasoning, unknown_calls }: Omit<SlimUsage, 'total'>): JsonObject {
  return present({ input, output, cacheRead: cache_read, cacheWrite: cache_write, reasoning, unknownCalls: unknown_calls });
}
