// The conversation in the terminal: every word goes through the runtime, which keeps it before anything comes of it.
import type { Actor, SessionSummary, SessionWait, SessionResult } from 'stepline/sessions';
import { decide } from './approve.ts';
import { deskId } from './desk.ts';
import type { Home } from './home.ts';
import type { Keyboard } from './keyboard.ts';
import type { Problems } from './problems.ts';
import { isBadAnswer, isClosed } from './problems.ts';
import type { Screen } from './screen.ts';
import { label, margin } from './screen.ts';
import { showGated } from './show.ts';
import type { Stage } from './stage.ts';
import { damageText, listStored, showList, showStored, speak, getState } from './stored.ts';
import { showTrace, showWhy } from './why.ts';

export interface Place {
  readonly home: Home;
  readonly by: Actor;
  readonly screen: Screen;
  readonly keyboard: Keyboard;
  readonly stage: Stage;
  readonly problems: Problems;
}

/** Id of the conversation; none until something was said. */
interface Here {
  readonly sessionId?: string;
  /** The conversations as they were last listed. */
  readonly listed: readonly string[];
  readonly quits?: boolean;
}

export const commands = '/why  /sessions  /open N  /new  /quit';

type Rest = Pick<SessionResult, 'status' | 'waitingFor'>;

function leave(screen: Screen, keyboard: Keyboard): never {
  screen.freshLine();
  keyboard.close();
  process.exit(0);
}

/** Shows what comes of an action until the conversation rests. Ctrl-C cancels it, and once more leaves the program. */
async function watchRun(
  place: Place,
  sessionId: string,
  action: () => Promise<SessionResult>,
): Promise<{ readonly turn: SessionResult; readonly spoke: boolean }> {
  const { home, by, screen, keyboard, stage, problems } = place;
  const unsubscribe = keyboard.onInterrupt((times) => {
    if (times > 1) leave(screen, keyboard);
    home.runtime.cancel(sessionId, 'Ctrl-C was pressed', { by }).catch(problems.tell);
  });
  stage.watch(sessionId);
  try {
    const turn = await action();
    return { turn, spoke: stage.end() };
  } finally {
    stage.end();
    unsubscribe();
  }
}

/** Asks about a call and does what was decided. Undefined if nobody wanted to decide. */
async function askAboutWait(place: Place, wait: SessionWait & { readonly type: 'approval' }): Promise<SessionResult | undefined> {
  const { home, by, problems } = place;
  const { sessionId } = wait;
  for (;;) {
    const decision = await decide(place, wait);
    if (decision.type === 'left') return undefined;
    const { type, ...more } = decision;
    try {
      return (await watchRun(place, sessionId, () => home.runtime[type](sessionId, wait, { by, ...more }))).turn;
    } catch (error) {
      // Arguments that do not fit are refused at once, and the call still waits.
      if (!isBadAnswer(error)) throw error;
      problems.tell(error);
    }
  }
}

/** From where a conversation rests: with the person's word where it is needed, and why it stopped. */
async function goOn(place: Place, sessionId: string, start: Rest): Promise<void> {
  const { screen, home } = place;
  let rest = start;
  for (;;) {
    const [wait] = rest.waitingFor;
    if (wait?.type !== 'approval') break;
    const turn = await askAboutWait(place, wait);
    if (turn === undefined) break;
    rest = turn;
  }
  showWhy(screen, getState(await home.runtime.get(sessionId)));
  if (rest.status !== 'waiting') return;
  screen.line(`${margin}${screen.paint.yellow('It still waits: press Enter to decide.')}`);
  screen.line(`${margin}${screen.paint.yellow('Say something else, and the call is given up.')}`);
}

function showWaits(screen: Screen, { waitingFor }: Rest): void {
  for (const wait of waitingFor) if (wait.type === 'approval') showGated(screen, wait.toolName, wait.args);
}

/** Takes a stored conversation up: finishes what was interrupted, and asks what it waits for. */
async function takeUp(place: Place, summary: SessionSummary): Promise<void> {
  const { home, by, screen } = place;
  const { id } = summary;
  const isInterrupted = home.recovery.resumed.includes(id) || summary.status === 'in_progress';
  const session = await home.runtime.get(id);
  showStored(screen, session, { summary, isInterrupted });
  if (isInterrupted) {
    const { turn, spoke } = await watchRun(place, id, () => home.runtime.resume(id, { by }));
    // The words may have been safe before, so that nobody said them again.
    if (!spoke && turn.status !== 'waiting') speak(screen, turn.text);
    await goOn(place, id, turn);
    return;
  }
  showWaits(screen, session);
  if (session.status === 'waiting') await goOn(place, id, session);
}

async function say(place: Place, text: string, here: Here): Promise<Here> {
  const { home, by } = place;
  const sessionId = here.sessionId ?? (await home.runtime.create({ agent: deskId, owner: by.id }, { by })).id;
  const { turn } = await watchRun(place, sessionId, () => home.runtime.send(sessionId, text, { by }));
  await goOn(place, sessionId, turn);
  return { ...here, sessionId };
}

async function openOther(place: Place, wanted: string, here: Here): Promise<Here> {
  const { home, screen } = place;
  const { good } = await listStored(home.runtime);
  const ids = here.listed.length > 0 ? here.listed : good.map(({ id }) => id);
  const sessionId = ids[Number(wanted) - 1] ?? wanted;
  const summary = good.find(({ id }) => id === sessionId);
  if (summary === undefined) {
    screen.line(`${margin}There is no conversation ${wanted}; /sessions lists them.`);
    return here;
  }
  await takeUp(place, summary);
  return { ...here, sessionId };
}

async function why({ home, screen }: Place, { sessionId }: Here): Promise<void> {
  if (sessionId === undefined) screen.line('  Nothing has run yet; ask something first.');
  else showTrace(screen, getState(await home.runtime.get(sessionId)));
}

async function command(place: Place, line: string, here: Here): Promise<Here> {
  const { screen, home } = place;
  const [name = '', wanted = ''] = line.split(/\s+/);
  switch (name) {
    case '/why':
      await why(place, here);
      return here;
    case '/sessions':
      return { ...here, listed: await showList(screen, home.runtime, here.sessionId) };
    case '/open':
      return openOther(place, wanted, here);
    case '/new':
      screen.line(`${margin}A new conversation; the one before stays stored.`);
      return { listed: here.listed };
    case '/quit':
    case '/exit':
      return { ...here, quits: true };
    default:
      screen.line(`${margin}There is no command ${name}; there are ${commands}`);
      return here;
  }
}

async function take(place: Place, line: string, here: Here): Promise<Here> {
  if (line.startsWith('/')) return command(place, line, here);
  if (line !== '') return say(place, line, here);
  const { sessionId } = here;
  if (sessionId === undefined) return here;
  const session = await place.home.runtime.get(sessionId);
  showWaits(place.screen, session);
  if (session.status === 'waiting') await goOn(place, sessionId, session);
  return here;
}

/** Goes on with the last conversation, unless a new one is wanted. */
async function begin(place: Place, isNew: boolean): Promise<Here> {
  const { home, screen, problems } = place;
  const { good, damaged } = await listStored(home.runtime);
  for (const session of damaged) problems.tell(damageText(session));
  const [last] = good;
  if (isNew || last === undefined) return { listed: [] };
  const others = home.recovery.resumed.filter((id) => id !== last.id).length;
  if (others > 0) screen.line(`${margin}Interrupted elsewhere and finished meanwhile: ${others}; see /sessions.`);
  await takeUp(place, last);
  return { sessionId: last.id, listed: [] };
}

/** Runs some work and reports its errors. Undefined if this process cannot continue. */
async function attempt(place: Place, here: Here, work: () => Promise<Here>): Promise<Here | undefined> {
  try {
    return await work();
  } catch (error) {
    place.problems.tell(error);
    return isClosed(error) ? undefined : here;
  }
}

/** Talks until somebody leaves or the input ends. Returns the exit code: 1 if this process cannot continue. */
export async function chat(place: Place, { isNew }: { readonly isNew: boolean }): Promise<number> {
  const { screen, keyboard } = place;
  let here = await attempt(place, { listed: [] }, () => begin(place, isNew));
  while (here !== undefined && here.quits !== true) {
    const before: Here = here;
    screen.line();
    const heard = await keyboard.ask(label(screen, 'you'));
    if (heard.type === 'end') break;
    if (heard.type === 'interrupt') {
      if (heard.times > 1) break;
      screen.line(screen.paint.dim(`${margin}Ctrl-C once more leaves.`));
      continue;
    }
    here = await attempt(place, before, () => take(place, heard.text.trim(), before));
  }
  keyboard.close();
  return here === undefined ? 1 : 0;
}
