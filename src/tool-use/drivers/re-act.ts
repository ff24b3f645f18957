// A driver for models without tool calling: the model thinks, decides as JSON, and reads its observations as plain text.
import { checkKeys } from '../../lib/index.ts';
import type { Failure } from '../../errors/index.ts';
import { Message } from '../../messages/index.ts';
import type { ModelAnswer, AnswerFacts, Driver, DriverContext, RequestTemplate } from '../driver.ts';
import { createStep, createFinalStep, createUnansweredStep, joinFacts } from '../steps.ts';
import { sumUp } from '../sum-up.ts';
import type { ToolUseStep } from '../tool-use-step.ts';
import { TextDelta } from '../tool-use-events.ts';
import type { Decision } from './decision.ts';
import { decisionSchema, readDecision } from './decision.ts';

export interface ReActOptions {
  /** Asks once more for the final answer as plain text, which can be streamed. @default false */
  readonly finalViaInference?: boolean;
}

type Usual = Pick<DriverContext, 'offered' | 'settings' | 'output'>;

function describeTools({ offered }: Usual): string {
  const lines = offered.flatMap((tool) =>
    'inputSchema' in tool ? [`- ${tool.name}: ${tool.description}\n  arguments: ${JSON.stringify(tool.inputSchema)}`] : [],
  );
  return lines.length === 0 ? 'There are no tools.' : `Tools:\n${lines.join('\n')}`;
}

const toInstructions = (turn: Usual): string =>
  [
    'Work step by step. In each step think, then either call one tool or give the final answer.',
    'Answer with one JSON object and nothing else:',
    '{"thought": "…", "type": "call_tool", "tool": "name", "args": "{\\"field\\": …}", "answer": null} or',
    '{"thought": "…", "type": "final_answer", "tool": null, "args": null, "answer": "…"}.',
    'What a tool gave comes back to you as "Observation: …".',
    describeTools(turn),
    ...(turn.output === undefined ? [] : [`The final "answer" must be JSON that fits this schema: ${JSON.stringify(turn.output.json)}`]),
  ].join('\n');

function toTemplate(turn: Usual): RequestTemplate & { readonly more: string } {
  const { toolChoice: _, ...settings } = turn.settings;
  return { more: toInstructions(turn), output: { schema: decisionSchema, name: 'decision' }, settings };
}

function createUndecidedStep(
  turn: DriverContext,
  facts: AnswerFacts,
  { text, problem }: { readonly text: string; readonly problem: string },
): ToolUseStep {
  const { ids } = turn.scope;
  const failure: Failure = { type: 'validation', code: 'invalid-decision', message: problem, retryable: true, readable: true };
  const messages = [
    Message.assistant(text === '' ? 'Thought: (none)' : text, { ids, metadata: { purpose: 'undecided' } }),
    Message.user(`Observation: ERROR: ${problem}`, { ids, metadata: { purpose: 'observation' } }),
  ];
  return { ...createStep(turn, facts, { messages, errors: [failure] }), hasToolCalls: true };
}

function createCallStep(
  turn: DriverContext,
  facts: AnswerFacts,
  { thought, tool, args }: Extract<Decision, { readonly type: 'call_tool' }>,
): ToolUseStep {
  const { ids } = turn.scope;
  const call = { id: ids(), name: tool, args };
  const words = [...(thought === '' ? [] : [`Thought: ${thought}`]), `Action: ${tool} ${JSON.stringify(args)}`].join('\n');
  const message = Message.assistant(words, { ids, metadata: { purpose: 'action' } });
  return createStep(turn, facts, { messages: [message], calls: [call] });
}

async function createAnswerStep(
  turn: DriverContext,
  facts: AnswerFacts,
  { thought, answer, viaInference }: { readonly thought: string; readonly answer: string; readonly viaInference: boolean },
): Promise<ToolUseStep> {
  const { ids } = turn.scope;
  const metadata = thought === '' ? {} : { metadata: { thought } };
  if (!viaInference) {
    turn.scope.events.emitPiece((header) => new TextDelta(header, turn.orchestrator, answer));
    return createFinalStep(turn, facts, { answer: Message.assistant(answer, { ids, ...metadata }) });
  }
  const request = Message.user(`You have decided to answer: ${thought} Give the user the final answer now, in plain words.`, { ids });
  const output = turn.output === undefined ? {} : { output: { schema: turn.output.json } };
  const { toolChoice: _, ...settings } = turn.settings;
  const answered: ModelAnswer = await turn.ask({ messages: [...turn.messages(), request], settings, purpose: 'final', ...output });
  const both = joinFacts(facts, answered.facts);
  if (!answered.ok) return createUnansweredStep(turn, { ...answered, facts: both });
  // No tool was offered: a call that came anyway is dropped, with its result.
  const parts = answered.response.parts.filter(({ type }) => type !== 'tool-call' && type !== 'tool-result');
  return createFinalStep(turn, both, { answer: Message.assistant(parts, { ids, ...metadata }) });
}

/** Lets the model reason and act in alternation, one tool at a time, in plain text: for models that cannot call tools themselves. */
export function reActDriver(options: ReActOptions = {}): Driver {
  const { finalViaInference = false } = options;
  checkKeys('reActDriver()', options, ['finalViaInference']);
  return {
    name: 're-act',
    toTemplate,
    ask: async (turn) => {
      if (turn.scope.finalizing) return sumUp(turn);
      const { more, ...usual } = toTemplate(turn);
      const answered = await turn.ask({ messages: turn.conversation(more), ...usual, isForReaders: false });
      if (!answered.ok) return createUnansweredStep(turn, answered);
      const { facts, response } = answered;
      const text = Message.assistant(response.parts, { id: '' }).text;
      const read = readDecision(text, turn.tools);
      if (!read.ok) return createUndecidedStep(turn, facts, { text, problem: read.problem });
      return read.decision.type === 'call_tool'
        ? createCallStep(turn, facts, read.decision)
        : createAnswerStep(turn, facts, { ...read.decision, viaInference: finalViaInference });
    },
  };
}
