/** A source of chance: a number from 0 up to, not including, 1. */
export type Random = () => number;

/** The machine's randomness, good enough for spreading retries. */
export const systemRandom: Random = () => Math.random();
