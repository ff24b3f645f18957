import type { ContextNeeded, Tools } from '../tools/index.ts';

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
