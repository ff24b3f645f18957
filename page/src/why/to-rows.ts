// Rows of the list of steps: every step, and a divider per message if there were several.
import type { StepDecision, ViewMessage } from 'stepline/ui';

export type WhyRow =
  | { readonly type: 'step'; readonly key: string; readonly step: StepDecision; readonly isPaused: boolean }
  | { readonly type: 'divider'; readonly key: string; readonly text: string };

const longest = 60;

const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line;
};

/** Reads from the id of a message which execution it belongs to. */
function getExecution(message: ViewMessage): string | undefined {
  if (message.step_number === undefined || (message.role !== 'assistant' && message.role !== 'tool')) return undefined;
  const end = message.role === 'tool' ? `/${message.step_number}/${message.tool_call_id}` : `/${message.step_number}`;
  return message.id.endsWith(end) ? message.id.slice(0, -end.length) : undefined;
}

/** Finds the message that each execution answers: the last one before its first words or calls. */
export function findQuestions(messages: readonly ViewMessage[]): ReadonlyMap<string, string> {
  const questions = new Map<string, string>();
  let asked = '';
  for (const message of messages) {
    if (message.role === 'user') asked = message.text;
    const execution = getExecution(message);
    if (execution !== undefined && asked !== '' && !questions.has(execution)) questions.set(execution, asked);
  }
  return questions;
}

interface RowOptions {
  readonly questions: ReadonlyMap<string, string>;
  /** True if the session waits for more of a limit. */
  readonly isPaused: boolean;
}

/** Returns the rows, newest first. A run that went on after a limit had paused there. */
export function toRows(steps: readonly StepDecision[], { questions, isPaused }: RowOptions): readonly WhyRow[] {
  const isDivided = steps.some(({ execution_id }) => execution_id !== steps[0]?.execution_id);
  return steps
    .flatMap((step, index): readonly WhyRow[] => {
      const next = steps[index + 1];
      const { execution_id, step_number, should_continue } = step;
      const goesOn = next === undefined ? isPaused : next.execution_id === execution_id;
      const row = { type: 'step', key: `${execution_id} ${step_number}`, step, isPaused: !should_continue && goesOn } as const;
      if (!isDivided || next?.execution_id === execution_id) return [row];
      const question = questions.get(execution_id);
      const text = question === undefined ? 'An earlier message' : `After “${shorten(question)}”`;
      return [row, { type: 'divider', key: execution_id, text }];
    })
    .toReversed();
}
