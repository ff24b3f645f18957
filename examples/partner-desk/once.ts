// One question, one answer: for scripts, pipes, and everything that is not a terminal. Secrets are not printed.
import type { Desk } from './desk.ts';
import type { Directory } from './partners.ts';
import { redactText } from './redacted.ts';
import type { Screen } from './screen.ts';
import { label, margin } from './screen.ts';
import { follow } from './show.ts';
import { showWhy } from './why.ts';

export const defaultQuestion = 'Who is in Berlin?';

export interface OnceOptions {
  readonly desk: Desk;
  readonly directory: Directory;
  readonly screen: Screen;
}

/** Answers and says why it stopped. Returns the exit code: 1 if the run failed, 130 if Ctrl-C ended it. */
export async function once(question: string, { desk, directory, screen }: OnceOptions): Promise<number> {
  const abort = new AbortController();
  // Once only: the second Ctrl-C ends the process.
  process.once('SIGINT', () => abort.abort('Ctrl-C was pressed'));
  screen.line(`${label(screen, 'you')}${redactText(question)}`);
  const result = await follow(desk.start(question, { context: { directory }, signal: abort.signal }), screen, { isLive: false });
  showWhy(screen, result.state);
  if (result.status === 'waiting') screen.line(`${margin}Nobody is here to decide: it was left waiting, and nothing was done.`);
  if (abort.signal.aborted) return 130;
  return result.status === 'failed' ? 1 : 0;
}
