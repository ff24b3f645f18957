// The conductor of the tour on the page.
// Owns:     the session of each act, and when its worker is killed or replaced.
// Does not: start or kill a process: the supervisor does.
// T1. An act that is started again while it goes on is the same session: nobody's double click kills a worker twice.
// T2. While the evening is played no action reaches the store: a worker whose clock is slow would apply it.
import type { Actor, EmbeddedRuntime } from 'stepline/sessions';
import { TourDesk } from '../desks.ts';
import { ActId } from './acts.ts';

/** The supervisor, as the tour needs it. */
export interface Backstage {
  /** Kills the worker that runs a session. */
  killWorker(sessionId: string): Promise<void>;
  /** Lets a process whose clock is slow begin this session. Settles when the regular workers are back. */
  playEvening(sessionId: string): Promise<void>;
}

export interface Conductor {
  /** Starts an act. Settles with its session. */
  start(act: ActId): Promise<string>;
  /** Settles when no evening is being played. */
  untilMorning(): Promise<void>;
}

export interface ConductorOptions {
  readonly runtime: EmbeddedRuntime;
  readonly by: Actor;
  readonly backstage: Backstage;
  readonly createId: () => string;
  readonly onProblem: (error: unknown) => void;
}

/** Length of the text at which the worker is killed: enough to have been seen, and far from the end. */
const killAtLength = 260;

const longestActMs = 60_000;

const tourTag = 'tour';

const requests = {
  [ActId.FailingTool]: { agent: TourDesk.BrokenSearch, text: 'Find Acme' },
  [ActId.Limit]: { agent: TourDesk.OneStep, text: 'Create a lead for Nordwind in program Growth' },
  [ActId.Approval]: { agent: TourDesk.Usual, text: 'Delete lead 2' },
  [ActId.Killed]: { agent: TourDesk.Usual, text: 'Write a report on Berlin' },
} as const;

export function createConductor({ runtime, by, backstage, createId, onProblem }: ConductorOptions): Conductor {
  const going = new Map<ActId, Promise<string>>();
  let evening = Promise.resolve();
  let last: string | undefined;

  async function begin(act: keyof typeof requests): Promise<string> {
    const { agent, text } = requests[act];
    const id = `${act}-${createId()}`;
    await runtime.create({ id, agent, owner: by.id, tags: [tourTag] }, { by });
    await runtime.send(id, text, { by, until: 'accepted' });
    return id;
  }

  /** Settles with true when a good part of the answer has been shown. */
  async function watchAnswer(sessionId: string, signal: AbortSignal): Promise<boolean> {
    for await (const item of runtime.openStep(sessionId, { follow: true, signal }))
      if (item.type === 'text' && item.offset + item.text.length >= killAtLength) return true;
    return false;
  }

  /** Settles with false when the run has ended. */
  async function watchEnd(sessionId: string, signal: AbortSignal): Promise<boolean> {
    for await (const { type } of runtime.events(sessionId, { follow: true, signal })) if (type === 'AgentFinished') break;
    return false;
  }

  /** Kills the worker in the middle of an answer, unless somebody has stopped it. Settles when the run has ended. */
  async function killInAnswer(sessionId: string): Promise<void> {
    const leaving = new AbortController();
    const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(longestActMs)]);
    try {
      const ended = watchEnd(sessionId, signal);
      if (!(await Promise.race([watchAnswer(sessionId, signal), ended]))) return;
      await backstage.killWorker(sessionId);
      await ended;
    } finally {
      leaving.abort();
    }
  }

  async function playEvening(): Promise<string> {
    const id = `${ActId.Overnight}-${createId()}`;
    const played = backstage.playEvening(id);
    evening = played.catch(() => undefined);
    await played;
    return id;
  }

  /** Returns the last session of the tour, also if another server started it. Starts one if there is none. */
  async function findLast(): Promise<string> {
    if (last !== undefined) return last;
    const { sessions } = await runtime.list({ tag: tourTag });
    const stored = sessions.flatMap((session) => ('damage' in session ? [] : [session]));
    return stored.toSorted((one, other) => other.updatedAt - one.updatedAt).at(0)?.id ?? begin(ActId.FailingTool);
  }

  /** Starts an act unless it goes on. `finish` settles when it is over. */
  function once(act: ActId, first: () => Promise<string>, finish: (id: string) => Promise<void> = async () => undefined): Promise<string> {
    const running = going.get(act);
    if (running !== undefined) return running;
    const started = first();
    going.set(act, started);
    void started
      .then(finish)
      .catch(onProblem)
      .finally(() => going.delete(act));
    return started;
  }

  async function startAct(act: ActId): Promise<string> {
    switch (act) {
      case ActId.FailingTool:
      case ActId.Limit:
      case ActId.Approval:
        await evening;
        return begin(act);
      case ActId.Killed:
        await evening;
        return once(act, () => begin(act), killInAnswer);
      case ActId.Overnight:
        return once(act, playEvening);
      case ActId.Why:
        return findLast();
    }
  }

  return {
    start: async (act) => (last = await startAct(act)),
    untilMorning: () => evening,
  };
}
