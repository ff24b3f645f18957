/** One figure of a run, and whether it is right. */
export interface Figure {
  readonly what: string;
  readonly value: number | string;
  /** Expected value; absent if it is only reported. */
  readonly wanted?: string;
  readonly isRight: boolean;
  /** Details of a wrong figure. */
  readonly examples?: readonly string[];
}

export const info = (what: string, value: number | string): Figure => ({ what, value, isRight: true });

export const exactly = (what: string, value: number, wanted: number): Figure => ({
  what,
  value,
  wanted: String(wanted),
  isRight: value === wanted,
});

export const atMost = (what: string, value: number, most: number): Figure => ({
  what,
  value,
  wanted: `at most ${most}`,
  isRight: value <= most,
});

export const atLeast = (what: string, value: number, least: number): Figure => ({
  what,
  value,
  wanted: `at least ${least}`,
  isRight: value >= least,
});

/** A figure that counts what is wrong. */
export const none = (what: string, wrong: readonly string[]): Figure => ({
  ...exactly(what, wrong.length, 0),
  ...(wrong.length > 0 && { examples: wrong.slice(0, 3) }),
});

export const wrongOnes = (figures: readonly Figure[]): readonly Figure[] => figures.filter(({ isRight }) => !isRight);

/** A plain table. */
export function toTable(title: string, figures: readonly Figure[]): string {
  const width = Math.max(...figures.map(({ what }) => what.length));
  const lines = figures.flatMap(({ what, value, wanted, isRight, examples = [] }) => {
    const wish = wanted === undefined ? '' : `   wanted: ${wanted}${isRight ? '' : '   WRONG'}`;
    return [`  ${what.padEnd(width)}  ${String(value).padStart(8)}${wish}`, ...examples.map((example) => `      ${example}`)];
  });
  return [title, ...lines].join('\n');
}
