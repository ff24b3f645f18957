import { pendingToolCalls } from '../inference/index.ts';
import { Message } from '../messages/index.ts';
import type { Turn } from './driver.ts';
import { createStep, createUnansweredStep } from './steps.ts';
import type { ToolUseStep } from './tool-use-step.ts';

function limitsReached({ state }: Turn): string {
  const reached = state.lastStepResult?.outcome.evaluations.filter(({ atLimit }) => atLimit === 'finalize') ?? [];
  return reached.map(({ criterion, reason }) => `${criterion}: ${reason}`).join('; ');
}

/** The last step after a limit: no tools, and a word to the model to sum up. The word is not kept in the conversation. */
export async function sumUp(turn: Turn): Promise<ToolUseStep> {
  const { toolChoice: _, ...settings } = turn.settings;
  const request = [
    `A limit of this run has been reached (${limitsReached(turn)}), and no tool can be called any more.`,
    'Answer now with what you have: say what you found out or did, and what is left to do.',
  ].join(' ');
  const messages = [...turn.messages(), Message.user(request, { ids: turn.scope.ids, metadata: { purpose: 'finalize' } })];
  const answered = await turn.ask({ messages, settings });
  if (!answered.ok) return createUnansweredStep(turn, answered);
  const answer = Message.assistant(answered.response.parts, { ids: turn.scope.ids });
  return createStep(turn, answered.facts, { messages: [answer], calls: pendingToolCalls(answer) });
}
