// Compares the cost of each row, relative to the same work by hand, with the stored ratios.

/** Ratios to the same work by hand, by the name of the row. */
export type Ratios = Readonly<Record<string, number>>;

/** A ratio may grow by this factor: the machine's noise stays below it. */
export const allowedGrowth = 1.5;

const write = (ratio: number): string => ratio.toFixed(2);

/** Returns a line for each row that became too expensive, or that only one side has. */
export function compareRatios(stored: Ratios, measured: Ratios): readonly string[] {
  const names = [...new Set([...Object.keys(stored), ...Object.keys(measured)])];
  return names.flatMap((name) => {
    const [before, now] = [stored[name], measured[name]];
    if (before === undefined) return [`${name}: no ratio is stored. Store it with npm run bench -- --store.`];
    if (now === undefined) return [`${name}: stored as ${write(before)} × by hand, but not measured. Store again if the row is gone.`];
    if (now <= before * allowedGrowth) return [];
    return [`${name}: ${write(now)} × by hand, stored ${write(before)} ×. At most ${write(before * allowedGrowth)} × is allowed.`];
  });
}
