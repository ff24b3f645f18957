// A tour: acts that the server starts one by one, each in a session.
import { useCallback, useState } from 'react';
import { navigate } from '../app/routing.tsx';
import { getJson, postJson } from '../app/server.ts';
import type { Action } from '../app/use-action.ts';
import { useAction } from '../app/use-action.ts';
import { config } from '../config.ts';

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
  const [acts, setActs] = useState<readonly TourAct[]>([]);
  const [place, setPlace] = useState(-1);
  const action = useAction();
  const { run } = action;
  const play = useCallback(
    (list: readonly TourAct[], index: number) =>
      run(async () => {
        const act = list[index];
        if (act === undefined || config.tour === undefined) return;
        setPlace(index);
        navigate({ type: 'session', sessionId: await startAct(config.tour, act) });
        if (act.id === 'why') openWhy();
      }),
    [run, openWhy],
  );
  const start = useCallback(async () => {
    let list: readonly TourAct[] = [];
    const isRead = await run(async () => {
      const body = (await getJson(config.tour ?? '')) as { readonly acts?: readonly TourAct[] };
      list = body.acts ?? [];
      setActs(list);
      setPlace(0);
    });
    if (isRead) await play(list, 0);
    else setPlace(0);
  }, [run, play]);
  return {
    acts,
    place,
    action,
    start: () => void start(),
    next: () => void play(acts, place + 1),
    end: () => setPlace(-1),
  };
}
