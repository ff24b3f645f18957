import { pendingToolCalls } from '../../inference/index.ts';
import { Message } from '../../messages/index.ts';
import type { Driver } from '../driver.ts';
import { answeredStep, finalStep, unansweredStep } from '../steps.ts';
import { sumUp } from '../sum-up.ts';

const driver: Driver = Object.freeze<Driver>({
  name: 'tool-calling',
  ask: async (turn) => {
    if (turn.scope.finalizing) return sumUp(turn);
    const { output } = turn;
    const answered = await turn.ask({
      messages: turn.messages(),
      tools: turn.offered,
      ...(output !== undefined && { output: { schema: output.json } }),
    });
    if (!answered.ok) return unansweredStep(turn, answered);
    const answer = Message.assistant(answered.response.parts, { ids: turn.scope.ids });
    const calls = pendingToolCalls(answered.response);
    return calls.length > 0 ? answeredStep(turn, answered.facts, { messages: [answer], calls }) : finalStep(turn, answered.facts, answer);
  },
});

/** Lets the model call tools in its provider's own way: the answer's calls are carried out side by side. */
export function toolCallingDriver(): Driver {
  return driver;
}
