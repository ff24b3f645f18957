import type { JsonObject } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { ModelRequest, OfferedTool, OutputFormat, ToolChoice } from '../index.ts';
import type { CallOptions } from './language-model-like.ts';
import type { PromptOptions } from './to-prompt.ts';
import { toPrompt } from './to-prompt.ts';

function toTool(tool: OfferedTool): Readonly<Record<string, unknown>> {
  if ('type' in tool) return { type: 'provider', id: tool.id, name: tool.name, args: tool.args };
  const { name, description, inputSchema, providerOptions } = tool;
  return omitUndefined({ type: 'function', name, description: description === '' ? undefined : description, inputSchema, providerOptions });
}

function toToolChoice(choice: ToolChoice): Readonly<Record<string, unknown>> {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool };
}

function toResponseFormat({ schema, name, description }: OutputFormat): JsonObject {
  return { type: 'json', schema, ...omitUndefined({ name, description }) };
}

/** Writes one call in the AI SDK's words. */
export function toCallOptions(request: ModelRequest, options: PromptOptions): CallOptions {
  const { messages, tools = [], settings = {}, output, signal } = request;
  const { toolChoice, stop = [], ...same } = settings;
  return omitUndefined({
    prompt: toPrompt(messages, options),
    ...same,
    stopSequences: stop.length === 0 ? undefined : [...stop],
    tools: tools.length === 0 ? undefined : tools.map(toTool),
    toolChoice: tools.length === 0 || toolChoice === undefined ? undefined : toToolChoice(toolChoice),
    responseFormat: output && toResponseFormat(output),
    abortSignal: signal,
  });
}
