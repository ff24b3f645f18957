// What every scene of the tour works with.
import type { AgentOptions, AgentState } from 'stepline';
import { offlineModel } from './choose-model.ts';
import type { Desk } from './desk.ts';
import { createDesk } from './desk.ts';
import type { Directory } from './partners.ts';
import { createDirectory } from './partners.ts';
import type { Screen } from './screen.ts';
import { label } from './screen.ts';
import { follow } from './show.ts';
import { showWhy } from './why.ts';

export interface Guide {
  readonly screen: Screen;
  /** Explanation for the reader before it happens. */
  readonly note: (text: string) => void;
  /** The program's action, as code. */
  readonly code: (text: string) => void;
  /** Runs a question or a state, shows what happens and why it ended. */
  readonly run: (desk: Desk, input: string | AgentState, directory?: Directory) => Promise<AgentState>;
}

export type Scene = (guide: Guide) => Promise<void>;

/** A desk of its own for each scene: nothing is shared. */
export const deskWith = async (rules: Pick<AgentOptions, 'limits' | 'errors'> = {}): Promise<Desk> =>
  createDesk(await offlineModel(), rules);

export function createGuide(screen: Screen): Guide {
  const { paint } = screen;
  return {
    screen,
    note: (text) => screen.line(text),
    code: (text) => screen.line(`\n${label(screen, 'code')}${paint.yellow(text)}`),
    run: async (desk, input, directory = createDirectory()) => {
      if (typeof input === 'string') screen.line(`${label(screen, 'you')}${input}`);
      const { state } = await follow(desk.start(input, { context: { directory } }), screen);
      showWhy(screen, state);
      return state;
    },
  };
}
