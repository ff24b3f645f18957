// All agents of a file: the desk that people talk to, and those of the tour on the page, which have rules and partners of their own.
import type { Model } from 'stepline';
import { ErrorPolicy } from 'stepline';
import type { SessionFacts } from 'stepline/sessions';
import type { Clock } from 'stepline/step-by-step';
import { offlineModel } from './choose-model.ts';
import type { Desk } from './desk.ts';
import { createDesk, deskId } from './desk.ts';
import type { Directory } from './partners.ts';
import { createBrokenDirectory, createDirectory } from './partners.ts';

/** Ids of the agents of the tour. */
export const TourDesk = {
  Usual: 'tour-desk',
  BrokenSearch: 'tour-desk-broken-search',
  OneStep: 'tour-desk-one-step',
  Overnight: 'tour-desk-overnight',
} as const;
export type TourDesk = (typeof TourDesk)[keyof typeof TourDesk];

/** Makes all of them. A script answers for those of the tour, at a pace that can be watched. */
export async function createDesks(model: Model, paceMs: number, clock?: Clock): Promise<readonly Desk[]> {
  const time = clock === undefined ? {} : { clock };
  const script = await offlineModel({ paceMs });
  return [
    createDesk(model, time),
    createDesk(script, { ...time, id: TourDesk.Usual }),
    createDesk(script, { ...time, id: TourDesk.BrokenSearch, errors: ErrorPolicy.retryToolErrors(3) }),
    createDesk(script, { ...time, id: TourDesk.OneStep, limits: { steps: 1, onLimit: 'pause' } }),
    // A night that counted would end it.
    createDesk(script, { ...time, id: TourDesk.Overnight, limits: { steps: 12, tokens: 60_000, wallMs: 120_000 } }),
  ];
}

/** Chooses the directory of a session: the tour has fresh partners each time, and changes nothing of the real ones. */
export function chooseDirectory(directory: Directory, { agent }: SessionFacts): Directory {
  if (agent.id === deskId) return directory;
  return agent.id === TourDesk.BrokenSearch ? createBrokenDirectory() : createDirectory();
}
