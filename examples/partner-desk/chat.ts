// The conversation in the terminal: one state that goes on from turn to turn.
import type { AgentResult } from 'stepline';
import { AgentState } from 'stepline';
import { decideApprovals } from './approve.ts';
import type { Desk } from './desk.ts';
import type { Keyboard } from './keyboard.ts';
import type { Directory } from './partners.ts';
import type { Screen } from './screen.ts';
import { counted, label, margin, showProblem } from './screen.ts';
import { loadState, saveState } from './storage.ts';
import { follow, showGated } from './show.ts';
import { showTrace, showWhy } from './why.ts';

export interface Place {
  readonly desk: Desk;
  readonly directory: Directory;
  readonly screen: Screen;
  readonly keyboard: Keyboard;
}

/** Where the conversation stands after a line. */
interface Next {
  readonly state: AgentState;
  readonly quits?: boolean;
}

export const commands = '/why  /save FILE  /load FILE  /quit';

/** Runs a state until it needs somebody; Ctrl-C aborts it, and once more leaves the program. */
async function answerOnce({ desk, directory, screen, keyboard }: Place, state: AgentState): Promise<AgentResult> {
  const abort = new AbortController();
  const unsubscribe = keyboard.onInterrupt((times) => {
    if (times > 1) leave(screen, keyboard);
    abort.abort('Ctrl-C was pressed');
  });
  try {
    return await follow(desk.start(state, { context: { directory }, signal: abort.signal }), screen);
  } finally {
    unsubscribe();
  }
}

function leave(screen: Screen, keyboard: Keyboard): never {
  screen.freshLine();
  keyboard.close();
  process.exit(0);
}

/** Runs a state, with the person's word where it is needed, and says why it stopped. */
async function goOn(place: Place, start: AgentState): Promise<Next> {
  const { screen } = place;
  let state = start;
  // A run shows what waits; a state that waits already does not run.
  for (const wait of state.waitingFor) if (wait.type === 'approval') showGated(screen, wait.toolName, wait.args);
  for (;;) {
    if (place.desk.hasNextStep(state)) ({ state } = await answerOnce(place, state));
    if (state.status !== 'waiting') break;
    const decided = await decideApprovals(place, state);
    if (decided.type === 'left') break;
    ({ state } = decided);
  }
  showWhy(screen, state);
  if (state.status === 'waiting') {
    screen.line(`${margin}${screen.paint.yellow('It still waits: press Enter to decide.')}`);
    screen.line(`${margin}${screen.paint.yellow('Say something else, and the call is given up.')}`);
  }
  return { state };
}

async function load(place: Place, file: string, state: AgentState): Promise<Next> {
  const { screen, desk, directory } = place;
  const loaded = await loadState(file, desk, directory);
  if (!loaded.ok) {
    showProblem(screen, loaded.problem);
    return { state };
  }
  const { executions, stepCount, usage } = loaded.state.session;
  screen.line(
    `${margin}Loaded: ${counted(executions.length, 'execution')}, ${counted(stepCount, 'step')}, ${counted(usage.total, 'token')}; ${counted(directory.leads().length, 'lead')}.`,
  );
  return executions.length === 0 ? { state: loaded.state } : goOn(place, loaded.state);
}

async function save({ screen, directory }: Place, file: string, state: AgentState): Promise<Next> {
  const trouble = await saveState(file, state, directory);
  if (trouble === undefined) screen.line(`${margin}Saved to ${file}.`);
  else showProblem(screen, trouble);
  return { state };
}

async function command(place: Place, line: string, state: AgentState): Promise<Next> {
  const { screen } = place;
  const [name = '', ...rest] = line.split(/\s+/);
  const file = rest.join(' ');
  if ((name === '/save' || name === '/load') && file === '') {
    screen.line(`${margin}Name a file: ${name} FILE`);
    return { state };
  }
  switch (name) {
    case '/why':
      showTrace(screen, state);
      return { state };
    case '/save':
      return save(place, file, state);
    case '/load':
      return load(place, file, state);
    case '/quit':
    case '/exit':
      return { state, quits: true };
    default:
      screen.line(`${margin}There is no command ${name}; there are ${commands}`);
      return { state };
  }
}

async function take(place: Place, line: string, state: AgentState): Promise<Next> {
  if (line === '') return state.status === 'waiting' ? goOn(place, state) : { state };
  if (line.startsWith('/')) return command(place, line, state);
  return goOn(place, state.withUserMessage(line));
}

/** Talks until somebody leaves or the input ends. */
export async function chat(place: Place): Promise<void> {
  const { screen, keyboard } = place;
  let state = AgentState.empty();
  for (;;) {
    screen.line();
    const heard = await keyboard.ask(label(screen, 'you'));
    if (heard.type === 'end') break;
    if (heard.type === 'interrupt') {
      if (heard.times > 1) break;
      screen.line(screen.paint.dim(`${margin}Ctrl-C once more leaves.`));
      continue;
    }
    const next = await take(place, heard.text.trim(), state);
    if (next.quits === true) break;
    ({ state } = next);
  }
  keyboard.close();
}
