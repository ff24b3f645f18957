import { omitUndefined, readObject, readString } from '../lib/index.ts';

/** Parts that are missing in a state read from an incomplete copy. */
export interface StateGaps {
  /** One sentence or more for people; explanations of the state end with it. */
  readonly summary: string;
  /** Ids of calls whose arguments are not the ones that the model gave. */
  readonly callsWithoutArgs?: readonly string[];
  /** Ids of waits that cannot be answered, because the run that asked is missing. */
  readonly lostWaits?: readonly string[];
}

/** Reads stored gaps. */
export function readGaps(input: unknown, path: string): StateGaps {
  const data = readObject(input, path);
  return omitUndefined({
    summary: data.string('summary'),
    callsWithoutArgs: data.optionalArray('callsWithoutArgs', readString),
    lostWaits: data.optionalArray('lostWaits', readString),
  });
}
