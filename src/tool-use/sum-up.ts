// The last step after a limit: the model sums up.
// Owns:     the request to sum up, and the refusal of calls in that step.
// Does not: end the run: the limit does.
// Z1. The request continues the one before it: the same messages and the same tools, so that the model still reads its calls and their
//     results, and the provider's cache still holds. Some provider packages drop both if no tool is offered, or if the choice is `none`.
// Z2. No call runs. Each one gets a result that says so.
// Z3. If the model only called tools, it is asked once more, without tools: the calls and results are then put into words.
import { findPendingToolCalls } from '../inference/index.ts';
import type { ModelSettings, OfferedTool } from '../inference/index.ts';
import type { Part } from '../messages/index.ts';
import { Message, MessageRole, textPart, toolResultText } from '../messages/index.ts';
import type { ProducedStep } from '../step-by-step/index.ts';
import { toCancelledExecution } from '../tools/index.ts';
import { toAnswerMessages } from './answer-messages.ts';
import type { DriverContext } from './driver.ts';
import { createStep, createUnansweredStep, joinFacts, toProducedStep } from './steps.ts';
import type { ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

// A choice that forces a call would leave no room for a summary.
function withoutForcedCall({ toolChoice, ...settings }: ModelSettings): ModelSettings {
  return toolChoice === 'auto' || toolChoice === 'none' ? { ...settings, toolChoice } : settings;
}

/** Returns the request to sum up. It is not kept in the conversation. */
function createRequest({ state, scope }: DriverContext): Message {
  const reached = state.execution.results.last?.outcome.evaluations.filter(({ atLimit }) => atLimit === 'finalize') ?? [];
  const limits = reached.map(({ criterion, reason }) => `${criterion}: ${reason}`).join('; ');
  const request = [
    `A limit of this run has been reached (${limits}), and no tool can be called any more.`,
    'Answer now with what you have: say what you found out or did, and what is left to do.',
  ].join(' ');
  return Message.user(request, { ids: scope.ids, metadata: { purpose: 'finalize' } });
}

/** Asks the model to sum up. The tools stay offered if it called them before. */
export async function sumUp(turn: DriverContext, tools: readonly OfferedTool[] = []): Promise<ToolUseStep> {
  const messages = [...turn.messages(), createRequest(turn)];
  const answered = await turn.ask({ messages, tools, settings: withoutForcedCall(turn.settings) });
  if (!answered.ok) return createUnansweredStep(turn, answered);
  const { answer, results } = toAnswerMessages(answered.response, turn.scope.ids);
  return createStep(turn, answered.facts, { messages: [answer, ...results], calls: findPendingToolCalls(answered.response) });
}

const noMoreTools = 'The call was not made: a limit has been reached, and no tool can be called any more.';

/** Refuses the calls of a step that may only sum up. If it has no text, the model is asked once more. */
export async function refuseCalls(turn: DriverContext, step: ToolUseStep): Promise<ProducedStep<ToolUseStep>> {
  const startedAt = turn.scope.time.clock.now();
  const executions = step.toolCalls.map((call) => toCancelledExecution(call, { startedAt, text: noMoreTools }));
  const produced = toProducedStep(turn, step, { executions, waits: [] });
  const { forbidding, interruption } = turn.scope.control;
  const isOver = forbidding !== undefined || interruption !== undefined;
  if (produced.type !== 'step' || isOver || step.outputMessages.some(({ text }) => text.trim() !== '')) return produced;
  return { ...produced, step: await askForWords(turn, produced.step) };
}

async function askForWords(turn: DriverContext, step: ToolUseStep): Promise<ToolUseStep> {
  const { toolChoice: _, ...settings } = turn.settings;
  const messages = [...turn.messages(), ...step.outputMessages].map(putIntoWords);
  const answered = await turn.ask({ messages: [...messages, createRequest(turn)], settings, purpose: 'summary' });
  const { usage, cost, model, finishReason } = step;
  const facts = joinFacts({ usage, ...(cost && { cost }), ...(model && { model }), ...(finishReason && { finishReason }) }, answered.facts);
  if (!answered.ok) {
    const { outputMessages, errors } = createUnansweredStep(turn, answered);
    return {
      ...step,
      ...facts,
      outputMessages: [...step.outputMessages, ...outputMessages],
      errors: [...step.errors, ...errors],
      stepType: StepType.Error,
    };
  }
  // No tool was offered: a call that came anyway is dropped, with its result if it has one.
  const parts = answered.response.parts.filter(({ type }) => type !== 'tool-call' && type !== 'tool-result');
  const summary = parts.length === 0 ? [] : [Message.assistant(parts, { ids: turn.scope.ids })];
  return { ...step, ...facts, outputMessages: [...step.outputMessages, ...summary] };
}

// Without what the provider gave with a part: it would look for the parts beside it.
function toWords(part: Part): readonly Part[] {
  switch (part.type) {
    case 'text':
      return [textPart(part.text)];
    case 'tool-call':
      return [textPart(`[Called ${part.toolName} with ${part.rawArgs ?? JSON.stringify(part.args)}]`)];
    case 'tool-result':
      return [textPart(`[${part.toolName} returned: ${toolResultText(part.output)}]`)];
    case 'image':
    case 'file':
      return [part];
    case 'reasoning':
    case 'source':
    case 'provider':
      return [];
  }
}

/** Puts the calls and results of a message into words, for a request without tools. */
function putIntoWords(message: Message): Message {
  if (!message.isAssistant() && !message.isTool()) return message;
  return message.withRole(message.isTool() ? MessageRole.User : message.role).withParts(message.parts.flatMap(toWords));
}
