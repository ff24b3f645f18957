import { findPendingToolCalls } from '../../inference/index.ts';
import { toAnswerMessages } from '../answer-messages.ts';
import type { ModelAnswer, Driver, Question, DriverContext } from '../driver.ts';
import { createStep, createFinalStep, createUnansweredStep } from '../steps.ts';
import { sumUp } from '../sum-up.ts';
import type { ToolUseStep } from '../tool-use-step.ts';

function toQuestion(turn: DriverContext): Question {
  const { output, offered: tools } = turn;
  const messages = turn.conversation();
  return output === undefined ? { messages, tools } : { messages, tools, output: { schema: output.json } };
}

function readAnswer(turn: DriverContext, answered: ModelAnswer): ToolUseStep | Promise<ToolUseStep> {
  if (!answered.ok) return createUnansweredStep(turn, answered);
  const { response, facts } = answered;
  const { answer, results } = toAnswerMessages(response, turn.scope.ids);
  // From the messages, whose parts nobody can change.
  const calls = findPendingToolCalls(results.length === 0 ? answer : { parts: [answer, ...results].flatMap(({ parts }) => parts) });
  return calls.length > 0
    ? createStep(turn, facts, { messages: results.length === 0 ? [answer] : [answer, ...results], calls })
    : createFinalStep(turn, facts, { answer, results });
}

const driver: Driver = Object.freeze<Driver>({
  name: 'tool-calling',
  ask: (turn) =>
    turn.scope.finalizing ? sumUp(turn, turn.offered) : turn.ask(toQuestion(turn)).then((answered) => readAnswer(turn, answered)),
});

/** Lets the model call tools in its provider's own way: the calls of an answer run side by side. */
export function toolCallingDriver(): Driver {
  return driver;
}
