import type { UsageCounts } from '../messages/index.ts';
import { Usage } from '../messages/index.ts';

/** What a provider says of the tokens of one call; anything may be missing, or be no count at all. */
export type ReportedUsage = { readonly [Key in keyof Omit<UsageCounts, 'unknownCalls'>]?: number | null | undefined };

const breakdown = ['cacheRead', 'cacheWrite', 'reasoning'] as const;

function count(value: number | null | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Reads the usage of one call. Where input or output is missing the call counts as unknown, which is not zero. */
export function toUsage(reported: ReportedUsage): Usage {
  const [input, output] = [count(reported.input), count(reported.output)];
  const details = breakdown.flatMap((key) => {
    const value = count(reported[key]);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Usage.of({
    input: input ?? 0,
    output: output ?? 0,
    ...Object.fromEntries(details),
    ...((input === undefined || output === undefined) && { unknownCalls: 1 }),
  });
}
