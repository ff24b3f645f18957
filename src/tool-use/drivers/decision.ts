import type { JsonObject } from '../../lib/index.ts';
import { isRecord, toCanonical } from '../../lib/index.ts';
import type { ToolSet } from '../../tools/index.ts';
import { parseAnswer } from '../output.ts';

/** Decision of a model: the next thing to do. */
export type Decision =
  | { readonly type: 'call_tool'; readonly thought: string; readonly tool: string; readonly args: JsonObject }
  | { readonly type: 'final_answer'; readonly thought: string; readonly answer: string };

/** A decision, or what is wrong with it in words for the model. */
export type ReadDecision = { readonly ok: true; readonly decision: Decision } | { readonly ok: false; readonly problem: string };

/** JSON schema of a decision. Arguments are text: the strictest providers refuse an object whose fields they do not know. */
export const decisionSchema: JsonObject = {
  type: 'object',
  properties: {
    thought: { type: 'string', description: 'What you know, and what has to be done next.' },
    type: { type: 'string', enum: ['call_tool', 'final_answer'] },
    tool: { type: ['string', 'null'], description: 'The name of the tool to call; null for an answer.' },
    args: { type: ['string', 'null'], description: 'The arguments of the tool, a JSON object written as text; null for an answer.' },
    answer: { type: ['string', 'null'], description: 'What the user is told; null for a call.' },
  },
  required: ['thought', 'type', 'tool', 'args', 'answer'],
  additionalProperties: false,
};

const wrong = (problem: string): ReadDecision => ({ ok: false, problem });

// As text, as the schema says, or as the object itself.
function readArgs(given: unknown): JsonObject | undefined {
  if (given === undefined || given === null || given === '') return {};
  const value = typeof given === 'string' ? parseAnswer(given) : given;
  const canonical = toCanonical(value);
  return canonical.ok && isRecord(canonical.value) ? canonical.value : undefined;
}

function readCall(data: Readonly<Record<string, unknown>>, thought: string, tools: ToolSet): ReadDecision {
  const { tool } = data;
  if (typeof tool !== 'string' || tool === '') return wrong('"tool" does not name the tool to call.');
  if (tools.get(tool) === undefined) return wrong(`Unknown tool "${tool}". Use one of ${tools.names.join(', ')}.`);
  const args = readArgs(data['args']);
  return args === undefined
    ? wrong(`"args" of "${tool}" must be a JSON object.`)
    : { ok: true, decision: { type: 'call_tool', thought, tool, args } };
}

function readAnswer(answer: unknown, thought: string): ReadDecision {
  const text = typeof answer === 'string' ? answer : answer === undefined || answer === null ? '' : JSON.stringify(answer);
  return text.trim() === '' ? wrong('"answer" is empty.') : { ok: true, decision: { type: 'final_answer', thought, answer: text } };
}

/** Reads a decision out of an answer. */
export function readDecision(text: string, tools: ToolSet): ReadDecision {
  const data = parseAnswer(text);
  if (!isRecord(data)) return wrong('The decision is not a JSON object.');
  const thought = typeof data['thought'] === 'string' ? data['thought'] : '';
  switch (data['type']) {
    case 'call_tool':
      return readCall(data, thought, tools);
    case 'final_answer':
      return readAnswer(data['answer'], thought);
    default:
      return wrong(
        `"type" must be "call_tool" or "final_answer", not ${data['type'] === undefined ? 'missing' : JSON.stringify(data['type'])}.`,
      );
  }
}
