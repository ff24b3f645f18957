/** CPU time of this process, all threads, in microseconds. */
const cpuMicros = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Cost of one way of doing the work. */
export interface Sample {
  readonly name: string;
  /** Microseconds of CPU per unit of work: the median of the rounds. */
  readonly microsPerUnit: number;
  /** The same in the fastest round, which other programs disturbed least. */
  readonly lowestMicros: number;
}

/** A way of doing some work `units` times. */
export interface Contender {
  readonly name: string;
  readonly units: number;
  readonly work: () => Promise<void>;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
};

/** The compiler is done with the hot paths after about this many. */
const defaultWarmUpPasses = 3;

async function cpuPerUnit({ units, work }: Contender, repeats: number): Promise<number> {
  globalThis.gc?.();
  const before = cpuMicros();
  for (let index = 0; index < repeats; index += 1) await work();
  return (cpuMicros() - before) / (repeats * units);
}

interface Effort {
  readonly rounds: number;
  readonly unitsPerRound: number;
  readonly warmUpPasses?: number;
}

/**
 * Measures contenders against each other: warmed up, then in rounds, each contender once per round, so that a slow moment
 * of the machine hits all alike.
 */
export async function compare(
  contenders: readonly Contender[],
  { rounds, unitsPerRound, warmUpPasses = defaultWarmUpPasses }: Effort,
): Promise<readonly Sample[]> {
  const countRepeats = ({ units }: Contender): number => Math.max(1, Math.round(unitsPerRound / units));
  for (let pass = 0; pass < warmUpPasses; pass += 1) {
    for (const contender of contenders) await cpuPerUnit(contender, countRepeats(contender));
  }
  const taken = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) taken[index]?.push(await cpuPerUnit(contender, countRepeats(contender)));
  }
  return contenders.map(({ name }, index) => {
    const figures = taken[index] ?? [];
    return { name, microsPerUnit: median(figures), lowestMicros: Math.min(...figures) };
  });
}
