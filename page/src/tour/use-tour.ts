// A tour: acts that the server starts one by one, each in a session.
// U1. Whoever has ended the tour, or gone on, is not taken to the session of an act that started late.
// U2. A reload keeps the place, in this tab.
import { useCallback, useEffect, useRef, useState } from 'react';
import { navigate } from '../app/routing.tsx';
import { getJson, postJson } from '../app/server.ts';
import type { Action } from '../app/use-action.ts';
import { useAction } from '../app/use-action.ts';
import { config } from '../config.ts';
import { readPlace, storePlace } from './stored-place.ts';

export interface TourAct {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface Tour {
  readonly acts: readonly TourAct[];
  /** Place of the current act; -1 if the tour is not on. */
  readonly place: number;
  readonly action: Action;
  readonly start: () => void;
  readonly next: () => void;
  /** Starts the current act again. */
  readonly retry: () => void;
  readonly end: () => void;
}

/** Starts an act; returns the id of its session. */
async function startAct(address: string, { id }: TourAct): Promise<string> {
  const body = (await postJson(`${address}/${encodeURIComponent(id)}`, {})) as { readonly session_id?: string };
  if (typeof body.session_id !== 'string') throw new Error('The tour did not say which session to open.');
  return body.session_id;
}

/** Runs the tour. The last act, `why`, opens the panel. */
export function useTour(openWhy: () => void): Tour {
  const [{ acts, place }, setTour] = useState(() => readPlace(config.tour));
  const current = useRef(place);
  const action = useAction();
  const { run, isBusy } = action;
  const go = useCallback((list: readonly TourAct[], index: number) => {
    current.current = index;
    setTour({ acts: list, place: index });
  }, []);
  useEffect(() => storePlace(config.tour, { acts, place }), [acts, place]);
  const play = useCallback(
    (list: readonly TourAct[], index: number) =>
      run(async () => {
        const act = list[index];
        if (act === undefined || config.tour === undefined) return;
        go(list, index);
        const sessionId = await startAct(config.tour, act);
        if (current.current !== index) return;
        navigate({ type: 'session', sessionId });
        if (act.id === 'why') openWhy();
      }),
    [run, openWhy, go],
  );
  const start = useCallback(async () => {
    if (isBusy) return;
    let list: readonly TourAct[] = [];
    const isRead = await run(async () => {
      const body = (await getJson(config.tour ?? '')) as { readonly acts?: readonly TourAct[] };
      list = body.acts ?? [];
    });
    if (isRead) await play(list, 0);
    else go([], 0);
  }, [isBusy, run, play, go]);
  return {
    acts,
    place,
    action,
    start: () => void start(),
    next: () => void play(acts, place + 1),
    retry: () => void (acts.length === 0 ? start() : play(acts, place)),
    end: () => {
      go(acts, -1);
      action.setError('');
    },
  };
}
