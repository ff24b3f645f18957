import { ToolFailedError } from '../errors/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import { reportSafely, reportToConsole } from '../events/index.ts';
import type { Json, Soon } from '../lib/index.ts';
import { InvalidArgumentError, mostCanonicalBytes, toFrozenCanonical } from '../lib/index.ts';
import type { ContentPart, ToolCall, ToolOutput } from '../messages/index.ts';
import { readContentPart, toolResultText, withoutUnreadable } from '../messages/index.ts';
import { issuesText } from './schema-issue.ts';
import type { ClientTool, FunctionTool, NestedTool } from './tool.ts';
import { valueOutput } from './tool-execution.ts';

/** A result in its stored form, with the output for the model only if it does not follow from the value. */
export interface StoredResult {
  readonly value: Json;
  readonly output?: ToolOutput;
}

export type ResultTool = Pick<FunctionTool | ClientTool | NestedTool, 'name' | 'output' | 'toModelOutput' | 'maxResultChars'>;

/** Leaves room for what is recorded beside a value: when its call started, and how long it took. */
const storedLimits = { maxBytes: mostCanonicalBytes - 100 };

function toStoredValue(value: unknown, what: string): Json {
  // A copy: what the tool does with its own later must not change what was recorded.
  const canonical = toFrozenCanonical(value, storedLimits);
  if (canonical.ok) return canonical.value;
  const { path, problem, isTooLarge = false } = canonical;
  const advice = isTooLarge ? 'Return less: one page, a summary, or an id under which the tool finds the rest.' : 'Return plain JSON data.';
  throw new ToolFailedError(`${what} cannot be stored: ${path === '' ? 'it' : path} ${problem}. ${advice}`);
}

async function parseResult({ name, output }: ResultTool, result: unknown): Promise<unknown> {
  const parsed = await output?.parse(result);
  if (parsed === undefined) return result;
  if (parsed.ok) return parsed.value;
  throw new ToolFailedError(`The result of "${name}" does not fit its output schema: ${issuesText(parsed.issues)}.`);
}

// Parts are recognised by their form; one item that is not a part makes the list plain data.
function readContentParts(value: Json): readonly ContentPart[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  try {
    return value.map((part, index) => readContentPart(part, `[${index}]`));
  } catch {
    return undefined;
  }
}

/** The call that a result belongs to. */
export interface StoredCall extends Pick<ToolCall, 'id' | 'args'> {
  readonly onProblem?: ProblemReporter | undefined;
}

async function toModelOutput(tool: ResultTool, result: unknown, { id, args, onProblem }: StoredCall): Promise<ToolOutput | undefined> {
  if (tool.toModelOutput === undefined) return undefined;
  const what = `toModelOutput of "${tool.name}"`;
  try {
    const shown: unknown = await tool.toModelOutput(result, { toolCallId: id, args });
    const value = toStoredValue(shown, `What ${what} gave`);
    const parts = readContentParts(value);
    if (parts === undefined) return valueOutput(value);
    const output = withoutUnreadable({ type: 'content', parts }, (problem) =>
      reportSafely(onProblem ?? reportToConsole, new InvalidArgumentError(`No model can read an attachment: ${problem}.`), what),
    );
    return toolResultText(output) === '' ? valueOutput('') : output;
  } catch (error) {
    // The work is done, and must not be tried again because showing it failed: the model reads the result itself.
    reportSafely(onProblem ?? reportToConsole, error, what);
    return undefined;
  }
}

/** Brings a tool's result into its stored form, with the output for the model. Throws or rejects if it cannot be stored. */
export function toStoredResult(tool: ResultTool, result: unknown, call: StoredCall): Soon<StoredResult> {
  // A returned error means what a thrown one means; stored as data it would be an empty object.
  if (result instanceof Error) throw result;
  // Most results are there at once: there is nothing to parse or show.
  if (tool.output === undefined && tool.toModelOutput === undefined)
    return { value: toStoredValue(result, `The result of "${tool.name}"`) };
  return parseAndShow(tool, result, call);
}

async function parseAndShow(tool: ResultTool, result: unknown, call: StoredCall): Promise<StoredResult> {
  const parsed = await parseResult(tool, result);
  const value = toStoredValue(parsed, `The result of "${tool.name}"`);
  const output = await toModelOutput(tool, parsed, call);
  return output === undefined ? { value } : { value, output };
}
