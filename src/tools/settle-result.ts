import { ToolFailedError } from '../errors/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import { reportSafely, reportToConsole } from '../events/index.ts';
import type { Json } from '../lib/index.ts';
import { jsonCopy, toCanonical } from '../lib/index.ts';
import type { ContentPart, ToolCall, ToolOutput } from '../messages/index.ts';
import { readContentPart, toolResultText } from '../messages/index.ts';
import { issuesText } from './schema-issue.ts';
import type { ClientTool, FunctionTool, NestedTool } from './tool.ts';
import { valueOutput } from './tool-execution.ts';

/** A result in its stored form. The output stands here only where it does not follow from the value. */
export interface SettledResult {
  readonly value: Json;
  readonly output?: ToolOutput;
}

type Settling = Pick<FunctionTool | ClientTool | NestedTool, 'name' | 'output' | 'toModelOutput'>;

function stored(value: unknown, what: string): Json {
  const canonical = toCanonical(value);
  // A copy: what the tool does with its own later must not change what was recorded.
  if (canonical.ok) return jsonCopy(canonical.value);
  throw new ToolFailedError(
    `${what} cannot be stored: ${canonical.path === '' ? 'it' : canonical.path} ${canonical.problem}. Return plain JSON data.`,
  );
}

async function parsedResult({ name, output }: Settling, result: unknown): Promise<unknown> {
  const parsed = await output?.parse(result);
  if (parsed === undefined) return result;
  if (parsed.ok) return parsed.value;
  throw new ToolFailedError(`The result of "${name}" does not fit its output schema: ${issuesText(parsed.issues)}.`);
}

// Parts are told from other lists by their form; one item that is no part makes the list plain data.
function contentParts(value: Json): readonly ContentPart[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  try {
    return value.map((part, index) => readContentPart(part, `[${index}]`));
  } catch {
    return undefined;
  }
}

/** The call that a result belongs to. */
export interface SettledCall extends Pick<ToolCall, 'id' | 'args'> {
  readonly onProblem?: ProblemReporter | undefined;
}

async function shownOutput({ name, toModelOutput }: Settling, result: unknown, { id, args }: SettledCall): Promise<ToolOutput | undefined> {
  // Holds: the result was made by this tool's own run, or parsed by its schema.
  const given: unknown = await toModelOutput?.(result as never, { toolCallId: id, args });
  if (toModelOutput === undefined) return undefined;
  const value = stored(given, `What toModelOutput of "${name}" gave`);
  const parts = contentParts(value);
  if (parts === undefined) return valueOutput(value);
  const output: ToolOutput = { type: 'content', parts };
  return toolResultText(output) === '' ? valueOutput('') : output;
}

// The work is done, and must not be tried again because showing it failed: the model reads the result itself.
async function modelOutput(tool: Settling, result: unknown, call: SettledCall): Promise<ToolOutput | undefined> {
  try {
    return await shownOutput(tool, result, call);
  } catch (error) {
    reportSafely(call.onProblem ?? reportToConsole, error, `toModelOutput of "${tool.name}"`);
    return undefined;
  }
}

/**
 * Brings a tool's result into its stored form and into the words for the model, at once where nothing has to be parsed or shown.
 * Throws or rejects where it cannot be stored.
 */
export function settleResult(tool: Settling, result: unknown, call: SettledCall): SettledResult | Promise<SettledResult> {
  if (tool.output === undefined && tool.toModelOutput === undefined) return { value: stored(result, `The result of "${tool.name}"`) };
  return settleSlowly(tool, result, call);
}

async function settleSlowly(tool: Settling, result: unknown, call: SettledCall): Promise<SettledResult> {
  const parsed = await parsedResult(tool, result);
  const value = stored(parsed, `The result of "${tool.name}"`);
  const output = await modelOutput(tool, parsed, call);
  return output === undefined ? { value } : { value, output };
}
