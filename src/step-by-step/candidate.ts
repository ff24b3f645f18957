import type { Findings } from '../continuation/index.ts';

/** The state as it will be recorded, and what was found out for judging it. Never stored. */
export interface Candidate<State> extends Findings {
  readonly state: State;
}
