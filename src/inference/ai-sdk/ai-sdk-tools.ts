import type { JsonObject } from '../../lib/index.ts';
import { isRecord } from '../../lib/index.ts';
import type {
  ApprovalContext,
  ClientTool,
  FunctionTool,
  ModelOutput,
  ShownCall,
  StandardResult,
  Tool,
  ToolContext,
} from '../../tools/index.ts';
import { defineTool, InvalidToolError, providerTool } from '../../tools/index.ts';
import { toModelOutput } from './to-model-output.ts';

/** The shape of an AI SDK tool, as `tool()` of the `ai` package and the providers' `tools` return it. */
export interface AiSdkToolLike {
  readonly type?: string | undefined;
  readonly inputSchema: unknown;
  readonly description?: unknown;
  readonly execute?: ((input: never, options: never) => unknown) | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
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

// A Standard Schema as it is; what `jsonSchema()` gives, with its own validation where it has one. Either may come as a function.
function readSchema(name: string, given: unknown): ReadSchema {
  if ((isRecord(given) || isFunction(given)) && '~standard' in given) return { input: given };
  const schema: unknown = isFunction(given) ? given() : given;
  if (!isRecord(schema) || !('jsonSchema' in schema)) return { input: schema };
  const { jsonSchema, validate } = schema;
  if (isRecord(jsonSchema) && isFunction(jsonSchema['then'])) {
    throw new InvalidToolError(name, 'its JSON Schema comes later, as a promise; await it and pass the schema itself.');
  }
  return { input: jsonSchema, ...(isFunction(validate) && { validate: validator(validate) }) };
}

async function* yieldsOf(values: AsyncIterable<unknown>): AsyncGenerator<unknown, undefined> {
  // What an AI SDK tool yields last is its result; what it returns after that counts for nothing.
  for await (const value of values) yield value;
  return undefined;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

// AI SDK 6 has another name for it than 7.
const contextOf = (context: unknown): object => ({ context, experimental_context: context });

function runOf(tool: Fields): { readonly run?: FunctionTool['run'] } {
  const { execute } = tool;
  if (!isFunction(execute)) return {};
  return {
    run: (args: unknown, { signal, toolCallId, context }: ToolContext) => {
      const returned = Reflect.apply(execute, tool, [args, { toolCallId, messages: [], abortSignal: signal, ...contextOf(context) }]);
      return isAsyncIterable(returned) ? yieldsOf(returned) : returned;
    },
  };
}

function approvalOf(tool: Fields): { readonly needsApproval?: FunctionTool['needsApproval'] } {
  const { needsApproval } = tool;
  if (!isFunction(needsApproval)) return typeof needsApproval === 'boolean' ? { needsApproval } : {};
  return {
    needsApproval: async (args: unknown, { toolCallId, context }: ApprovalContext) =>
      (await Reflect.apply(needsApproval, tool, [args, { toolCallId, messages: [], ...contextOf(context) }])) === true,
  };
}

function outputOf(tool: Fields): { readonly toModelOutput?: (result: unknown, call: ShownCall) => Promise<ModelOutput> } {
  const { toModelOutput: show } = tool;
  if (!isFunction(show)) return {};
  return {
    toModelOutput: async (output, { toolCallId, args }) =>
      toModelOutput(await Reflect.apply(show, tool, [{ toolCallId, input: args, output }])),
  };
}

function descriptionOf({ description, title }: Fields): string {
  const text: unknown = isFunction(description) ? description({ context: undefined }) : description;
  return typeof text === 'string' ? text : typeof title === 'string' ? title : '';
}

function declare(options: object): Tool {
  // Holds: defineTool looks for itself at what no compiler watched.
  return (defineTool as (given: object) => Tool)(options);
}

function ownTool(name: string, tool: Fields): Tool {
  const execution = runOf(tool);
  const { input, validate } = readSchema(name, tool['inputSchema']);
  const options = {
    name,
    description: descriptionOf(tool),
    input,
    ...execution,
    ...(execution.run !== undefined && approvalOf(tool)),
    ...outputOf(tool),
    ...(isRecord(tool['providerOptions']) && { providerOptions: tool['providerOptions'] }),
  };
  if (validate !== undefined) return declare({ ...options, validate });
  try {
    return declare(options);
  } catch (error) {
    // The AI SDK lets a JSON Schema without validation pass unchecked; so do we, but only where ours does not know it.
    if (!(error instanceof InvalidToolError) || !/cannot be checked/.test(error.message)) throw error;
    return declare({ ...options, validate: (value: unknown) => ({ value }) });
  }
}

function providersTool(name: string, tool: Fields): Tool {
  // Holds: providerTool looks at both, whatever they are.
  const named = providerTool({ id: tool['id'] as `${string}.${string}`, name, args: (tool['args'] ?? {}) as JsonObject });
  const runsHere = isFunction(tool['execute']) || tool['isProviderExecuted'] === false;
  if (!runsHere) return named;
  const { id, args } = named;
  // Holds: a tool that is declared here is never a provider's.
  return Object.freeze({ ...(ownTool(name, tool) as FunctionTool | ClientTool), offeredAs: { id, args } });
}

/**
 * Takes AI SDK tools as they are, by the names under which the model shall see them: with `execute` they run here (an async
 * iterable tells progress), without it somebody outside carries them out. A tool that its provider defines is offered as the
 * provider knows it, whoever runs it.
 */
export function aiSdkTools<const Given extends Readonly<Record<string, AiSdkToolLike>>>(
  tools: Given,
): { readonly [Name in keyof Given]: Tool } {
  const taken = Object.entries(tools).map(([name, tool]) => {
    if (!isRecord(tool)) throw new InvalidToolError(name, 'is no tool of the AI SDK.');
    const isProviders = tool['type'] === 'provider' || tool['type'] === 'provider-defined';
    return [name, isProviders ? providersTool(name, tool) : ownTool(name, tool)] as const;
  });
  // Holds: there is one entry for each name.
  return Object.fromEntries(taken) as { readonly [Name in keyof Given]: Tool };
}
