// What is seen of all that happens: the events of one conversation, while somebody watches it.
// Before the first one is watched, events are kept: what was interrupted goes on before anybody can look.
import type { DeskEvent } from './desk.ts';
import type { Screen } from './screen.ts';
import { createShow } from './show.ts';

export interface Stage {
  readonly hear: (event: DeskEvent, session: { readonly id: string }) => void;
  /** Shows a conversation from now on, and what was kept of it. */
  watch(sessionId: string): void;
  /** Writes what is held back, so that something else can be told. */
  pause(): void;
  /** Ends what is shown; true if the desk has said something meanwhile. */
  end(): boolean;
}

export function createStage(screen: Screen): Stage {
  const show = createShow(screen);
  let kept: { readonly event: DeskEvent; readonly id: string }[] | undefined = [];
  let watched: string | undefined;
  let hasSpoken = false;

  const tell = (event: DeskEvent): void => {
    if (event.type === 'TextDelta') hasSpoken = true;
    show.event(event);
  };
  return {
    hear: (event, { id }) => {
      if (kept !== undefined) kept.push({ event, id });
      else if (id === watched) tell(event);
    },
    watch: (sessionId) => {
      watched = sessionId;
      hasSpoken = false;
      for (const { event, id } of kept ?? []) if (id === sessionId) tell(event);
      kept = undefined;
    },
    pause: () => {
      show.end();
    },
    end: () => {
      watched = undefined;
      show.end();
      return hasSpoken;
    },
  };
}
