import type { ContinuationCriterion } from '../continuation/index.ts';
import type { Capability, Hook } from '../hooks/index.ts';
import { checkCapabilities } from '../hooks/index.ts';
import type { Tool, Tools } from '../tools/index.ts';
import { ToolSet } from '../tools/index.ts';
import type { Instructions } from './options.ts';

/** Parts of an orchestrator that capabilities add to. */
interface Parts {
  readonly tools?: Tools | undefined;
  readonly hooks?: readonly Hook<never>[] | undefined;
  readonly criteria?: readonly ContinuationCriterion<never>[] | undefined;
  readonly instructions?: Instructions<never, never> | undefined;
  readonly capabilities?: readonly Capability[] | undefined;
}

/** All parts of an orchestrator, its own first. */
interface AllParts {
  readonly tools: readonly Tool[];
  readonly hooks: readonly Hook<never>[];
  readonly criteria: readonly ContinuationCriterion<never>[];
  readonly instructions: readonly Instructions<never, never>[];
  readonly capabilities: readonly Capability[];
}

function listTools(given: Tools): readonly Tool[] {
  const set = ToolSet.from(given);
  return set.names.flatMap((name) => set.get(name) ?? []);
}

/** Adds the parts of capabilities after the orchestrator's own, in the order in which they were given. */
export function addCapabilities(own: Parts): AllParts {
  const { capabilities = [] } = own;
  checkCapabilities(capabilities);
  const all: readonly Parts[] = [own, ...capabilities];
  return {
    tools: all.flatMap(({ tools = [] }) => listTools(tools)),
    hooks: all.flatMap(({ hooks = [] }) => hooks),
    criteria: all.flatMap(({ criteria = [] }) => criteria),
    instructions: all.flatMap(({ instructions }) => instructions ?? []),
    capabilities,
  };
}
