// CPU time of the main thread, in one process that does nothing else.

/** CPU time that a cell may take, in milliseconds. */
export interface Effort {
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** CPU time of this thread in microseconds. */
export const readCpu = (): number => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};

export const getMedian = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
};

/** Repeats work until it has used that much CPU time, at least once. */
export async function repeatFor(ms: number, work: () => Promise<unknown>): Promise<void> {
  const end = readCpu() + 1000 * ms;
  do await work();
  while (readCpu() < end);
}

const sliceMs = 50;

async function measureSlice(work: () => Promise<unknown>): Promise<number> {
  let passes = 0;
  const before = readCpu();
  await repeatFor(sliceMs, () => {
    passes += 1;
    return work();
  });
  return (readCpu() - before) / passes;
}

/**
 * Microseconds of CPU for one pass: the median of slices of the time. The first slice still warms up, and is left out unless the work
 * takes so long that there is only one.
 */
export async function measureCpu(work: () => Promise<unknown>, measureMs: number): Promise<number> {
  globalThis.gc?.();
  const slices: number[] = [];
  await repeatFor(measureMs, async () => slices.push(await measureSlice(work)));
  return getMedian(slices.length > 1 ? slices.slice(1) : slices);
}
