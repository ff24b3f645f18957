import type { JsonObject } from '../../lib/index.ts';
import { describeValue, isRecord, readJsonObject } from '../../lib/index.ts';
import type { ClientTool, DescribedTool, FunctionTool, ModelOutput, ShownCall, StandardResult, Tool } from '../../tools/index.ts';
import { describeTool, InvalidToolError, providerTool } from '../../tools/index.ts';
import type { Fields } from './fields.ts';
import { getText } from './fields.ts';
import { toModelOutput } from './to-model-output.ts';

/** The shape of an AI SDK tool, as `tool()` of the `ai` package and the providers' `tools` return it. */
export interface AiSdkToolLike {
  readonly type?: string | undefined;
  readonly inputSchema: unknown;
  readonly description?: unknown;
  readonly execute?: ((input: never, options: never) => unknown) | undefined;
}

type Call = (...args: readonly unknown[]) => unknown;

const isFunction = (value: unknown): value is Call => typeof value === 'function';

interface ReadSchema {
  readonly input: unknown;
  readonly validate?: (value: unknown) => Promise<StandardResult<unknown>>;
}

function validator(validate: Call): NonNullable<ReadSchema['validate']> {
  return async (value) => {
    const result = await validate(value);
    if (isRecord(result) && result['success'] === true) return { value: result['value'] };
    const error = isRecord(result) ? result['error'] : undefined;
    return { issues: [{ message: error instanceof Error ? error.message : 'does not fit the schema' }] };
  };
}

// A Standard Schema as it is; what `jsonSchema()` gives, with its own validation if it has one. Either may come as a function.
function readSchema(name: string, given: unknown): ReadSchema {
  if ((isRecord(given) || isFunction(given)) && '~standard' in given) return { input: given };
  const schema: unknown = isFunction(given) ? given() : given;
  if (!isRecord(schema) || !('jsonSchema' in schema)) return { input: schema };
  const { jsonSchema, validate } = schema;
  if (isRecord(jsonSchema) && isFunction(jsonSchema['then'])) {
    throw new InvalidToolError(name, 'its JSON Schema is a promise. Await it and pass the schema.');
  }
  // What zod wrote checks by itself.
  const isStandard = isRecord(jsonSchema) && '~standard' in jsonSchema;
  return { input: jsonSchema, ...(!isStandard && isFunction(validate) && { validate: validator(validate) }) };
}

async function* yieldAll(values: AsyncIterable<unknown>): AsyncGenerator<unknown, undefined> {
  // What an AI SDK tool yields last is its result; what it returns after that counts for nothing.
  for await (const value of values) yield value;
  return undefined;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

// AI SDK 6 has another name for it than 7.
const toContextFields = (context: unknown): object => ({ context, experimental_context: context });

function readRun(tool: Fields): FunctionTool<unknown, unknown, unknown>['run'] | undefined {
  const { execute } = tool;
  if (!isFunction(execute)) return undefined;
  return (args, { signal, toolCallId, context }) => {
    const options = { toolCallId, messages: [], abortSignal: signal, ...toContextFields(context) };
    const returned = Reflect.apply(execute, tool, [args, options]);
    return isAsyncIterable(returned) ? yieldAll(returned) : returned;
  };
}

function readApproval(tool: Fields): FunctionTool<unknown, unknown, unknown>['needsApproval'] {
  const { needsApproval } = tool;
  if (!isFunction(needsApproval)) return needsApproval === true;
  return async (args, { toolCallId, context }) =>
    (await Reflect.apply(needsApproval, tool, [args, { toolCallId, messages: [], ...toContextFields(context) }])) === true;
}

function readModelOutput(tool: Fields): ((result: unknown, call: ShownCall) => Promise<ModelOutput>) | undefined {
  const { toModelOutput: show } = tool;
  if (!isFunction(show)) return undefined;
  return async (output, { toolCallId, args }) => toModelOutput(await Reflect.apply(show, tool, [{ toolCallId, input: args, output }]));
}

function readDescription(fields: Fields): string {
  const { description } = fields;
  const text: unknown = isFunction(description) ? description({ context: undefined }) : description;
  return typeof text === 'string' ? text : getText(fields, 'title');
}

const maker = { maker: 'aiSdkTools()', isForeign: true };

function describeOwnTool(name: string, tool: Fields): DescribedTool<never> {
  const { input, validate } = readSchema(name, tool['inputSchema']);
  const { providerOptions } = tool;
  const description = {
    name,
    description: readDescription(tool),
    input,
    validate,
    toModelOutput: readModelOutput(tool),
    providerOptions: isRecord(providerOptions) ? readJsonObject(providerOptions, `${name}.providerOptions`) : undefined,
  };
  try {
    return describeTool(description, maker);
  } catch (error) {
    // The AI SDK accepts a JSON Schema without validation unchecked; so do we, but only one that our validator does not know.
    if (validate !== undefined || !(error instanceof InvalidToolError) || !error.message.includes('cannot be checked')) throw error;
    return describeTool({ ...description, validate: (value: unknown) => ({ value }) }, maker);
  }
}

function toOwnTool(name: string, tool: Fields): FunctionTool<unknown, unknown, unknown> | ClientTool {
  const described = describeOwnTool(name, tool);
  const run = readRun(tool);
  if (run === undefined) return Object.freeze({ type: 'client', ...described });
  return Object.freeze({ type: 'function', ...described, run, effect: 'once', needsApproval: readApproval(tool) });
}

function toProviderTool(name: string, tool: Fields): Tool {
  const { id, args = {}, execute, isProviderExecuted } = tool;
  // Holds: providerTool checks both, whatever they are.
  const named = providerTool({ id: id as `${string}.${string}`, name, args: args as JsonObject });
  if (!isFunction(execute) && isProviderExecuted !== false) return named;
  return Object.freeze({ ...toOwnTool(name, tool), offeredAs: { id: named.id, args: named.args } });
}

/**
 * Takes AI SDK tools as they are, by the names that the model sees: with `execute` they run here (an async iterable reports
 * progress), without it somebody outside runs them. A tool that its provider defines is offered as the provider knows it,
 * whoever runs it.
 */
export function aiSdkTools<const Given extends Readonly<Record<string, AiSdkToolLike>>>(
  tools: Given,
): { readonly [Name in keyof Given]: Tool } {
  const taken = Object.entries(tools).map(([name, tool]) => {
    if (!isRecord(tool))
      throw new InvalidToolError(name, `it is ${describeValue(tool)}, not a tool of the AI SDK. Create it with tool() from "ai".`);
    const isProviders = tool['type'] === 'provider' || tool['type'] === 'provider-defined';
    return [name, isProviders ? toProviderTool(name, tool) : toOwnTool(name, tool)] as const;
  });
  // Holds: there is one entry for each name.
  return Object.fromEntries(taken) as { readonly [Name in keyof Given]: Tool };
}
