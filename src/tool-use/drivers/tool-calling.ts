import { pendingToolCalls } from '../../inference/index.ts';
import { Message } from '../../messages/index.ts';
import type { Answered, Driver, Question, Turn } from '../driver.ts';
import { createStep, createFinalStep, createUnansweredStep } from '../steps.ts';
import { sumUp } from '../sum-up.ts';
import type { ToolUseStep } from '../tool-use-step.ts';

function question(turn: Turn): Question {
  const { output } = turn;
  return {
    messages: turn.messages(),
    tools: turn.offered,
    ...(output !== undefined && { output: { schema: output.json } }),
  };
}

function read(turn: Turn, answered: Answered): ToolUseStep | Promise<ToolUseStep> {
  if (!answered.ok) return createUnansweredStep(turn, answered);
  const answer = Message.assistant(answered.response.parts, { ids: turn.scope.ids });
  const calls = pendingToolCalls(answered.response);
  return calls.length > 0 ? createStep(turn, answered.facts, { messages: [answer], calls }) : createFinalStep(turn, answered.facts, answer);
}

const driver: Driver = Object.freeze<Driver>({
  name: 'tool-calling',
  // What an async function holds is kept while it waits; so it holds little.
  ask: async (turn) => (turn.scope.finalizing ? sumUp(turn) : read(turn, await turn.ask(question(turn)))),
});

/** Lets the model call tools in its provider's own way: the answer's calls are carried out side by side. */
export function toolCallingDriver(): Driver {
  return driver;
}
