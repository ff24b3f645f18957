import type { Capability } from '../hooks/index.ts';
import type { Tool, Tools } from '../tools/index.ts';
import type { AgentState } from './agent-state.ts';

/** A capability that an agent can be given. */
export type AgentCapability = Capability<Tools, AgentState>;

type Each<Given extends Tools> = Given extends readonly Tool[]
  ? Given[number]
  : Given extends Readonly<Record<string, Tool>>
    ? Given[keyof Given]
    : never;

/** Two sets of tools: by name if both are records, otherwise a list of both. */
export type MergedTools<Before extends Tools, After extends Tools> = After extends readonly []
  ? Before
  : Before extends readonly []
    ? After
    : Before extends readonly Tool[]
      ? readonly (Each<Before> | Each<After>)[]
      : After extends readonly Tool[]
        ? readonly (Each<Before> | Each<After>)[]
        : Omit<Before, keyof After> & After;

type ToolsOf<Given> = Given extends Capability<infer Tools_> ? Tools_ : readonly [];

/** An agent's own tools and those of its capabilities. */
export type WithCapabilities<Given extends Tools, Added extends readonly AgentCapability[]> = Added extends readonly [
  infer First extends AgentCapability,
  ...infer Rest extends readonly AgentCapability[],
]
  ? WithCapabilities<MergedTools<Given, ToolsOf<First>>, Rest>
  : number extends Added['length']
    ? MergedTools<Given, ToolsOf<Added[number]>>
    : Given;

type Taking<Given> = Given extends Capability<Tools, never, infer Context> ? (context: Context) => void : never;

/** Context that the capabilities need from the host. */
export type ContextOfCapabilities<Added extends readonly AgentCapability[]> = [Added[number]] extends [never]
  ? unknown
  : [Taking<Added[number]>] extends [(context: infer Context) => void]
    ? [Context] extends [never]
      ? unknown
      : Context
    : unknown;
