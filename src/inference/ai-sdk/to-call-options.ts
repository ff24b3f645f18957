import type { JsonObject } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { ModelRequest, ModelSettings, OfferedTool, OutputFormat, ToolChoice } from '../index.ts';
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

function toSettings(settings: ModelSettings): CallOptions {
  const { toolChoice, stop, reasoning, ...same } = settings;
  return omitUndefined({
    ...same,
    stopSequences: stop === undefined || stop.length === 0 ? undefined : [...stop],
    reasoning,
  });
}

/** One call in the AI SDK's words. */
export function toCallOptions(request: ModelRequest, options: PromptOptions): CallOptions {
  const { messages, tools = [], settings = {}, output, signal } = request;
  const { toolChoice } = settings;
  return {
    prompt: toPrompt(messages, options),
    ...toSettings(settings),
    ...(tools.length > 0 && {
      tools: tools.map(toTool),
      ...omitUndefined({ toolChoice: toolChoice && toToolChoice(toolChoice) }),
    }),
    ...omitUndefined({ responseFormat: output && toResponseFormat(output), abortSignal: signal }),
  };
}
