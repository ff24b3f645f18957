import type { SessionStore } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import type { Lived } from './client-of-ten-steps.ts';
import { live } from './client-of-ten-steps.ts';
import type { Troubles } from './mortal-process.ts';
import { createMortality } from './mortal-process.ts';
import { createWorld } from './ten-steps.ts';

/** A run and all moments that it went through. */
export interface Run {
  readonly lived: Lived;
  readonly moments: readonly string[];
}

/** Runs the ten steps with these troubles; `open` opens the store as each new process would. */
export async function run({ open, ...troubles }: Troubles & { readonly open?: () => SessionStore } = {}): Promise<Run> {
  const place = createMemoryPlace();
  const mortality = createMortality(troubles);
  return { lived: await live(createWorld(), mortality, open ?? (() => place.open())), moments: mortality.moments };
}

/** A moment by its number, and what it is. */
export type Moment = readonly [number: number, label: string];

/** The moments of a run with such labels. */
export const findMoments = ({ moments }: Run, label: RegExp): readonly Moment[] =>
  moments.flatMap((moment, index) => (label.test(moment) ? [[index + 1, moment] as const] : []));

/** Operations of the store after the session was made. */
export const storeMoment = /(write (?!entry 1$)|findRequest)/;
