// Stored conversations on the screen: the one that is gone on with, and the list of all.
import { AgentState } from 'stepline';
import type { DamagedSession, Session, EmbeddedRuntime, SessionSummary } from 'stepline/sessions';
import { deskId } from './desk.ts';
import type { Screen } from './screen.ts';
import { clipText, pluralize, label, margin, showProblem, wrapLine } from './screen.ts';
import { createSpeech } from './speech.ts';

const units: readonly (readonly [ms: number, noun: string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
];

/** Formats the time since something happened. */
export function ago(at: number, now: number): string {
  const [ms, noun] = units.find(([length]) => now - at >= length) ?? [];
  return ms === undefined || noun === undefined ? 'just now' : `${pluralize(Math.floor((now - at) / ms), noun)} ago`;
}

/** The state of a conversation, as what it is. */
export function getState({ state }: Session): AgentState {
  if (state instanceof AgentState) return state;
  throw new TypeError('This conversation belongs to no agent.');
}

const lastQuestion = (session: Session): string => getState(session).messages.findLast((message) => message.isUser())?.text ?? '';

const waitText = ({ waitingFor: [wait] }: Pick<SessionSummary, 'waitingFor'>): string =>
  wait === undefined ? '' : ` for ${wait.type}${wait.toolName === undefined ? '' : ` of ${wait.toolName}`}`;

function standing(summary: SessionSummary, isInterrupted: boolean): string {
  const { status, stopReason = '' } = summary;
  if (isInterrupted) return ' It was interrupted in the middle of an answer, and goes on now.';
  if (status === 'waiting') return ` It waits${waitText(summary)}.`;
  return status === 'stopped' || status === 'failed'
    ? ` Its last answer ${status === 'failed' ? 'failed' : 'was stopped'}: ${stopReason}.`
    : '';
}

/** Says which conversation goes on, and shows its last exchange. */
export function showStored(
  screen: Screen,
  session: Session,
  { summary, isInterrupted }: { readonly summary: SessionSummary; readonly isInterrupted: boolean },
): void {
  const { stepCount, executions, updatedAt } = summary;
  const turns = `${pluralize(executions, 'turn')}, ${pluralize(stepCount, 'step')}`;
  const text = `Goes on with a stored conversation: last used ${ago(updatedAt, Date.now())}, ${turns}.${standing(summary, isInterrupted)}`;
  screen.line();
  for (const row of wrapLine(text, screen.width - margin.length - 1)) screen.line(`${margin}${screen.paint.yellow(row)}`);
  screen.line(`${label(screen, 'you')}${clipText(lastQuestion(session), screen.width - margin.length - 1)}`);
  // What is said in the answer that goes on is shown as it comes.
  if (!isInterrupted) speak(screen, session.text);
}

export function speak(screen: Screen, text: string): void {
  if (text === '') return;
  const speech = createSpeech(screen);
  speech.take(text);
  speech.end();
}

export interface Stored {
  /** Those that can be read, the last used first. */
  readonly good: readonly SessionSummary[];
  readonly damaged: readonly DamagedSession[];
}

const isGood = (session: SessionSummary | DamagedSession): session is SessionSummary => !('damage' in session);

/** The conversations of the file, without those of the tour. */
export async function listStored(runtime: EmbeddedRuntime): Promise<Stored> {
  const { sessions } = await runtime.list();
  return {
    good: sessions
      .filter(isGood)
      .filter(({ agent }) => agent.id === deskId)
      .sort((one, other) => other.updatedAt - one.updatedAt),
    damaged: sessions.filter((session) => 'damage' in session),
  };
}

export const damageText = ({ id, damage }: DamagedSession): string =>
  `Conversation ${id} cannot be read and was set aside: ${damage}. The others are not touched by it.`;

const lastWords = async (runtime: EmbeddedRuntime, { id }: SessionSummary): Promise<string> => {
  try {
    const session = await runtime.get(id);
    return session.text === '' ? lastQuestion(session) : session.text;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** Lists all conversations. */
export async function showList(screen: Screen, runtime: EmbeddedRuntime, current: string | undefined): Promise<readonly string[]> {
  const { good, damaged } = await listStored(runtime);
  if (good.length === 0) screen.line(`${margin}Nothing is stored yet.`);
  for (const [index, summary] of good.entries()) {
    const { id, status, updatedAt, stepCount } = summary;
    const facts = `${status}${waitText(summary)}, ${ago(updatedAt, Date.now())}, ${pluralize(stepCount, 'step')}`;
    screen.line(`${id === current ? '   ▸ ' : '     '}${screen.paint.bold(String(index + 1))} ${facts}  ${screen.paint.dim(id)}`);
    screen.line(`${margin}${screen.paint.dim(clipText(await lastWords(runtime, summary), Math.min(screen.width, 120) - margin.length))}`);
  }
  for (const session of damaged) showProblem(screen, damageText(session));
  return good.map(({ id }) => id);
}
