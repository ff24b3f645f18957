// Asks the person at the keyboard about a call that waits for approval.
import type { Json } from 'stepline';
import type { AskOptions, Heard, Keyboard } from './keyboard.ts';
import type { Screen } from './screen.ts';
import { clipText, json, margin, showProblem } from './screen.ts';

interface Asking {
  readonly screen: Screen;
  readonly keyboard: Keyboard;
}

interface Asked {
  readonly args: Json;
  readonly problem?: string;
}

/** The decision; `left` if nobody wanted to decide now. */
export type Decision =
  { readonly type: 'approve'; readonly args?: unknown } | { readonly type: 'reject'; readonly reason?: string } | { readonly type: 'left' };

const left: Decision = { type: 'left' };

async function hear({ screen, keyboard }: Asking, prompt: string, options?: AskOptions): Promise<Heard> {
  return keyboard.ask(`${margin}${screen.paint.yellow(prompt)} `, options);
}

function parseArgs(text: string): { readonly args: unknown } | { readonly problem: string } {
  try {
    return { args: JSON.parse(text) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

async function askForEdit(asking: Asking, { args }: Asked): Promise<Decision | undefined> {
  const heard = await hear(asking, 'arguments ›', { prefill: json(args) });
  if (heard.type !== 'line') return left;
  const result = parseArgs(heard.text);
  if ('args' in result) return { type: 'approve', args: result.args };
  showProblem(asking.screen, `That is no JSON: ${result.problem}`);
  return undefined;
}

async function askForReason(asking: Asking): Promise<Decision> {
  const heard = await hear(asking, 'why not? (Enter for no reason) ›');
  if (heard.type !== 'line') return left;
  const reason = heard.text.trim();
  return { type: 'reject', ...(reason !== '' && { reason }) };
}

/** Asks until there is a decision. */
export async function decide(asking: Asking, wait: Asked): Promise<Decision> {
  const { screen } = asking;
  if (wait.problem !== undefined) showProblem(screen, `That could not be used: ${clipText(wait.problem, 400)}`);
  for (;;) {
    const heard = await hear(asking, 'allow it?  y yes · n no · e edit the arguments ›', { fresh: true });
    if (heard.type !== 'line') return left;
    const word = heard.text.trim().toLowerCase();
    if (word === 'y' || word === 'yes') return { type: 'approve' };
    if (word === 'n' || word === 'no') return askForReason(asking);
    const decided = word === 'e' || word === 'edit' ? await askForEdit(asking, wait) : undefined;
    if (decided !== undefined) return decided;
  }
}
