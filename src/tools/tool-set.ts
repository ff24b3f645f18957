import type { JsonObject } from '../lib/index.ts';
import { describeValue, isRecord, omitUndefined } from '../lib/index.ts';
import type { OfferedTool } from '../messages/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import type { FunctionTool, Tool } from './tool.ts';
import { findToolNameProblem } from './tool-name.ts';

/** Tools as a list, or as a record keyed by their names. */
export type Tools = readonly Tool[] | Readonly<Record<string, Tool>>;

type Each<Given extends Tools> = Given extends readonly Tool[] ? Given[number] : Given[keyof Given];

// Turns the union of the tools' contexts into their intersection.
// A tool typed as plain `Tool` does not say which context it needs.
type NeededBy<Context> = [Context] extends [never] ? unknown : Context;
type Taking<Given> =
  Given extends FunctionTool<never, unknown, infer Context> ? (context: NeededBy<Context>) => void : (context: unknown) => void;
type Taken<Takers> = [Takers] extends [(context: infer Context) => void] ? Context : unknown;

/** Context that a host must pass so that each of these tools has what it needs. */
export type ContextNeeded<Given extends Tools> = [Each<Given>] extends [never] ? unknown : Taken<Taking<Each<Given>>>;

declare const contextNeeded: unique symbol;

/** Tools of one agent, by name. Immutable. */
export interface ToolSet<in Context = never> {
  /** In the order in which the model sees them. */
  readonly names: readonly string[];
  get(name: string): Tool | undefined;
  /** Tool definitions sent to the model. */
  schemas(): readonly OfferedTool[];
  /** Values that are equal for two sets if they are the same to a model and to a run, in the order of the names. */
  fingerprint(): readonly JsonObject[];
  /** Carries the type of the context and nothing else. */
  readonly [contextNeeded]?: (context: Context) => void;
}

const types: ReadonlySet<unknown> = new Set<Tool['type']>(['function', 'client', 'nested', 'provider']);
const isTool = (value: unknown): value is Tool => isRecord(value) && types.has(value['type']) && typeof value['name'] === 'string';

function toToolError(given: unknown, key: string | undefined, index: number): InvalidToolError {
  const name = isRecord(given) && typeof given['name'] === 'string' ? given['name'] : '';
  const place = key === undefined ? `tools[${index}]` : 'it';
  const advice = 'Create it with defineTool(), or convert AI SDK tools with aiSdkTools().';
  return new InvalidToolError(key ?? name, `${place} is ${describeValue(given)}, not a tool. ${advice}`);
}

function listTools(given: Tools): readonly Tool[] {
  const entries: readonly (readonly [string | undefined, unknown])[] = Array.isArray(given)
    ? given.map((tool: unknown) => [undefined, tool] as const)
    : Object.entries(given);
  return entries.map(([key, tool], index) => {
    if (!isTool(tool)) throw toToolError(tool, key, index);
    if (key !== undefined && key !== tool.name)
      throw new InvalidToolError(tool.name, `it stands under the key ${describeValue(key)}. Use its name as the key, or rename the tool.`);
    return tool;
  });
}

function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const found = new Map<string, Tool>();
  for (const tool of tools) {
    const problem = found.has(tool.name) ? 'two tools have this name. Rename one of them.' : findToolNameProblem(tool.name);
    if (problem !== undefined) throw new InvalidToolError(tool.name, problem);
    found.set(tool.name, tool);
  }
  return found;
}

function toOfferedTool(tool: Tool): OfferedTool {
  if (tool.type === 'provider') return tool;
  const { name, description, input, offeredAs, providerOptions } = tool;
  if (offeredAs !== undefined) return Object.freeze<OfferedTool>({ type: 'provider', name, ...offeredAs });
  return Object.freeze<OfferedTool>({ name, description, inputSchema: input.json, ...omitUndefined({ providerOptions }) });
}

function toFingerprint(tool: Tool): JsonObject {
  if (tool.type === 'provider') return { ...tool };
  const { type, name, description, input, offeredAs } = tool;
  const offered = offeredAs === undefined ? {} : { offeredAs: { ...offeredAs } };
  const shared = { type, name, description, inputSchema: input.json, ...offered };
  if (tool.type === 'client' || tool.type === 'nested') return shared;
  const { effect, needsApproval } = tool;
  return { ...shared, effect, needsApproval: typeof needsApproval === 'function' ? 'by-arguments' : needsApproval };
}

const inNameOrder = (one: Tool, other: Tool): number => (one.name < other.name ? -1 : 1);

export const ToolSet = {
  /** Creates a set from a list, or from a record whose keys are the names that the model sees. */
  from<const Given extends Tools>(given: Given): ToolSet<ContextNeeded<Given>> {
    const tools = byName(listTools(given));
    return Object.freeze({
      names: Object.freeze([...tools.keys()]),
      get: (name: string) => tools.get(name),
      schemas: () => [...tools.values()].map(toOfferedTool),
      fingerprint: () => [...tools.values()].sort(inNameOrder).map(toFingerprint),
    });
  },
} as const;
