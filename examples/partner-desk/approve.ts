// Asks the person at the keyboard about calls that wait for approval.
import type { AgentState, Wait } from 'stepline';
import type { AskOptions, Heard, Keyboard } from './keyboard.ts';
import type { Screen } from './screen.ts';
import { clipped, json, margin, showProblem } from './screen.ts';

type Approval = Extract<Wait, { readonly type: 'approval' }>;

interface Asking {
  readonly screen: Screen;
  readonly keyboard: Keyboard;
}

/** What was decided; `left` where nobody wanted to decide now. */
export type Decided = { readonly type: 'settled'; readonly state: AgentState } | { readonly type: 'left' };

const left: Decided = { type: 'left' };

async function hear({ screen, keyboard }: Asking, prompt: string, options?: AskOptions): Promise<Heard> {
  return keyboard.ask(`${margin}${screen.paint.yellow(prompt)} `, options);
}

function parsed(text: string): { readonly args: unknown } | { readonly problem: string } {
  try {
    return { args: JSON.parse(text) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

async function edited(asking: Asking, { id, args }: Approval, state: AgentState): Promise<Decided | undefined> {
  const heard = await hear(asking, 'arguments ›', { prefill: json(args) });
  if (heard.type !== 'line') return left;
  const result = parsed(heard.text);
  if ('args' in result) return { type: 'settled', state: state.approve(id, { args: result.args }) };
  showProblem(asking.screen, `That is no JSON: ${result.problem}`);
  return undefined;
}

async function rejected(asking: Asking, { id }: Approval, state: AgentState): Promise<Decided> {
  const heard = await hear(asking, 'why not? (Enter for no reason) ›');
  return heard.type === 'line' ? { type: 'settled', state: state.reject(id, heard.text.trim()) } : left;
}

async function decideOne(asking: Asking, wait: Approval, state: AgentState): Promise<Decided> {
  const { screen } = asking;
  if (wait.problem !== undefined) showProblem(screen, `That could not be used: ${clipped(wait.problem, 400)}`);
  for (;;) {
    const heard = await hear(asking, 'allow it?  y yes · n no · e edit the arguments ›', { fresh: true });
    if (heard.type !== 'line') return left;
    const word = heard.text.trim().toLowerCase();
    if (word === 'y' || word === 'yes') return { type: 'settled', state: state.approve(wait.id) };
    if (word === 'n' || word === 'no') return rejected(asking, wait, state);
    const decided = word === 'e' || word === 'edit' ? await edited(asking, wait, state) : undefined;
    if (decided !== undefined) return decided;
  }
}

/** Asks about each open approval. The state that comes back is ready to go on with. */
export async function decideApprovals(asking: Asking, waiting: AgentState): Promise<Decided> {
  let state = waiting;
  for (const wait of waiting.waitingFor) {
    if (wait.type !== 'approval') return left;
    const decided = await decideOne(asking, wait, state);
    if (decided.type === 'left') return left;
    state = decided.state;
  }
  return { type: 'settled', state };
}
