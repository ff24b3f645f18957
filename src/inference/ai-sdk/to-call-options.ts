import type { JsonObject } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { ModelRequest, ModelSettings, OfferedTool, OutputFormat, ToolChoice } from '../index.ts';
import type { CallOptions } from './language-model-like.ts';
import type { PromptMessage } from './prompt.ts';
import { copyPlain, freezePart } from './prompt.ts';

type OfferedForm = Readonly<Record<string, unknown>>;

function toTool(tool: OfferedTool): OfferedForm {
  if ('type' in tool) return { type: 'provider', id: tool.id, name: tool.name, args: tool.args };
  const { name, description, inputSchema, providerOptions } = tool;
  return omitUndefined({ type: 'function', name, description: description === '' ? undefined : description, inputSchema, providerOptions });
}

/** Converts the offered tools; a tool that comes again is converted once. */
export class ToolCache {
  readonly #converted = new WeakMap<OfferedTool, OfferedForm>();

  convert(tools: readonly OfferedTool[]): readonly OfferedForm[] {
    return tools.map((tool) => this.#converted.get(tool) ?? this.#add(tool));
  }

  #add(tool: OfferedTool): OfferedForm {
    const converted = copyPlain(toTool(tool));
    freezePart(converted);
    // One that may still change is converted every time.
    if (Object.isFrozen(tool)) this.#converted.set(tool, converted);
    return converted;
  }
}

function toToolChoice(choice: ToolChoice): Readonly<Record<string, unknown>> {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool };
}

function toResponseFormat({ schema, name, description }: OutputFormat): JsonObject {
  return { type: 'json', schema: copyPlain(schema), ...omitUndefined({ name, description }) };
}

/** Settings that the AI SDK names or writes in another way; it takes the others as they are. */
const translated: ReadonlySet<string> = new Set(['toolChoice', 'stop', 'headers', 'providerOptions']);

/** Writes one call in the AI SDK's words. What the model does to it changes nothing of ours. */
export function toCallOptions(request: Omit<ModelRequest, 'messages'>, prompt: readonly PromptMessage[], offered: ToolCache): CallOptions {
  const { tools, settings, output, signal } = request;
  const options: Record<string, unknown> = { prompt };
  if (tools !== undefined && tools.length > 0) options['tools'] = offered.convert(tools);
  if (signal !== undefined) options['abortSignal'] = signal;
  if (output !== undefined) options['responseFormat'] = toResponseFormat(output);
  if (settings !== undefined) addSettings(options, settings);
  return options;
}

function addSettings(options: Record<string, unknown>, settings: ModelSettings): void {
  const { toolChoice, stop, headers, providerOptions } = settings;
  for (const [name, value] of Object.entries<unknown>({ ...settings })) {
    if (value !== undefined && !translated.has(name)) options[name] = value;
  }
  if (headers !== undefined) options['headers'] = { ...headers };
  if (providerOptions !== undefined) options['providerOptions'] = copyPlain(providerOptions);
  if (stop !== undefined && stop.length > 0) options['stopSequences'] = [...stop];
  if (toolChoice !== undefined && options['tools'] !== undefined) options['toolChoice'] = toToolChoice(toolChoice);
}
