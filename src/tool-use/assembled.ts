import type { ContinuationCriterion } from '../continuation/index.ts';
import type { Capability, Hook } from '../hooks/index.ts';
import { checkCapabilities } from '../hooks/index.ts';
import type { Tool, Tools } from '../tools/index.ts';
import { ToolSet } from '../tools/index.ts';
import type { Instructions } from './options.ts';

/** What capabilities add to. */
interface Parts<State, Context> {
  readonly tools?: Tools | undefined;
  readonly hooks?: readonly Hook<never>[] | undefined;
  readonly criteria?: readonly ContinuationCriterion<State>[] | undefined;
  readonly instructions?: Instructions<Context, State> | undefined;
  readonly capabilities?: readonly Capability[] | undefined;
}

/** Everything that an orchestrator is made of, whoever brought it. */
export interface Assembled<State, Context> {
  readonly tools: ToolSet<Context>;
  readonly hooks: readonly Hook<never>[];
  readonly criteria: readonly ContinuationCriterion<State>[];
  readonly instructions: readonly Instructions<Context, State>[];
  readonly capabilities: readonly Capability[];
}

function toolsOf(given: Tools): readonly Tool[] {
  const set = ToolSet.from(given);
  return set.names.flatMap((name) => set.get(name) ?? []);
}

/** Puts capabilities in: their parts stand behind the orchestrator's own, in the order in which they were given. */
export function assembled<State, Context>(parts: Parts<State, Context>): Assembled<State, Context> {
  const { tools = [], hooks = [], criteria = [], instructions, capabilities = [] } = parts;
  checkCapabilities(capabilities);
  const more = capabilities;
  return {
    // Holds: the context that is given with each run is the one that the tools ask for.
    tools: ToolSet.from([...toolsOf(tools), ...more.flatMap((each) => toolsOf(each.tools ?? []))]),
    hooks: [...hooks, ...more.flatMap((each) => each.hooks ?? [])],
    // Holds: a capability is put only into an orchestrator whose states it can read.
    criteria: [...criteria, ...more.flatMap((each) => (each.criteria ?? []) as readonly ContinuationCriterion<State>[])],
    instructions: [instructions, ...more.map((each) => each.instructions)].filter((each) => each !== undefined) as Assembled<
      State,
      Context
    >['instructions'],
    capabilities,
  };
}
