// Tools of an agent as tools of the AI SDK.
import type { FlexibleSchema, Tool as AiTool, ToolSet as AiToolSet } from 'ai';
import type { Agent } from '../../../agent/index.ts';
import type { Json, Jsonify } from '../../../lib/index.ts';
import type { ClientTool, FunctionTool, NestedTool, Tool, Tools } from '../../../tools/index.ts';
import { runApprovedCall } from './run-approved-call.ts';

// A tool typed as plain `Tool` does not say what it takes, and one that always throws has no result.
type KnownArgs<Args> = [Args] extends [never] ? Json : Args;
type KnownResult<Result> = [Result] extends [never] ? Json : Jsonify<Result>;

type ToAiTool<Given> =
  Given extends FunctionTool<infer Args, infer Result>
    ? AiTool<KnownArgs<Args>, KnownResult<Result>>
    : Given extends NestedTool<infer Args, infer Result>
      ? AiTool<KnownArgs<Args>, KnownResult<Result>>
      : AiTool<Json, Json>;

/** The tools of an agent, as the AI SDK types them. */
export type AiSdkToolSet<Given extends Tools> = Given extends readonly Tool[]
  ? Record<string, AiTool<Json, Json>>
  : { [Name in keyof Given & string]: ToAiTool<Given[Name]> };

/** Describes arguments. The agent checks them itself. */
function toSchema({ input: { json } }: FunctionTool | NestedTool | ClientTool): FlexibleSchema<Json> {
  return {
    '~standard': {
      version: 1,
      vendor: 'stepline',
      // Holds: the arguments of a call are JSON.
      validate: (value) => ({ value: value as Json }),
      jsonSchema: { input: () => ({ ...json }), output: () => ({ ...json }) },
    },
  };
}

/** Services that the tools of one call need. */
export interface ToolServices {
  readonly agent: Agent;
  readonly context: unknown;
  /** Finds the end of a call of the run. Absent for tools that are only looked at. */
  readonly findCall?: (id: string) => Promise<Json> | undefined;
}

function toAiTool(tool: Exclude<Tool, { readonly type: 'provider' }>, { agent, context, findCall }: ToolServices): AiTool<Json, Json> {
  const described = { description: tool.description, inputSchema: toSchema(tool) };
  // The page runs it, and its answer comes with the next request.
  if (tool.type === 'client') return { ...described, outputSchema: toSchema(tool) };
  return {
    ...described,
    execute: (args: Json, { toolCallId: id, abortSignal: signal }) =>
      findCall?.(id) ?? runApprovedCall(agent, { id, name: tool.name, args }, { context, signal }),
  };
}

/** Returns the tools of an agent for the AI SDK. Those that a provider runs are not among them. */
export function createAiSdkTools(services: ToolServices): AiToolSet {
  const { tools } = services.agent;
  return Object.fromEntries(
    tools.names.flatMap((name) => {
      const tool = tools.get(name);
      return tool === undefined || tool.type === 'provider' ? [] : [[name, toAiTool(tool, services)]];
    }),
  );
}
