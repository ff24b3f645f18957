import type { Capability } from '../hooks/index.ts';
import type { ContextNeeded, Tool, Tools } from '../tools/index.ts';
import type { AgentState } from './agent-state.ts';

/** The types that an agent carries, in one bag: what it is given, what it can call, what it answers. */
export interface AgentTypes {
  readonly context: unknown;
  readonly tools: Tools;
  readonly output: unknown;
}

/** The bag of an agent that needs this context beside what its tools need. */
export interface TypesOf<Context, Given extends Tools, Output> {
  readonly context: Context & ContextNeeded<Given>;
  readonly tools: Given;
  readonly output: Output;
}

/** A capability that an agent can be given. */
export type AgentCapability = Capability<Tools, AgentState>;

type Each<Given extends Tools> = Given extends readonly Tool[]
  ? Given[number]
  : Given extends Readonly<Record<string, Tool>>
    ? Given[keyof Given]
    : never;

/** Tools and more tools: by name where both are, else as a list of both. */
export type Merged<Before extends Tools, After extends Tools> = After extends readonly []
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
  ? WithCapabilities<Merged<Given, ToolsOf<First>>, Rest>
  : number extends Added['length']
    ? Merged<Given, ToolsOf<Added[number]>>
    : Given;

type Taking<Given> = Given extends Capability<Tools, never, infer Context> ? (context: Context) => void : never;

/** What the capabilities need of the host. */
export type ContextOfCapabilities<Added extends readonly AgentCapability[]> = [Added[number]] extends [never]
  ? unknown
  : [Taking<Added[number]>] extends [(context: infer Context) => void]
    ? [Context] extends [never]
      ? unknown
      : Context
    : unknown;
