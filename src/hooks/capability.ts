// A capability: tools, hooks, rules and instructions that belong together, under one name.
// Owns:     nothing mutable. It is added to an agent once, when the agent is created.
import type { ContinuationCriterion } from '../continuation/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, isRecord } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { Tools } from '../tools/index.ts';
import type { Hook } from './hook.ts';
import { isHook } from './hook.ts';

/** Facts that instructions may be made from. */
export interface PromptFacts<State, Context> {
  readonly context: Context;
  readonly state: State;
}

/** A named bundle. An agent with it gets the event types of its tools and needs their context. */
export interface Capability<Given extends Tools = Tools, in State extends RunState = never, in Context = never> {
  readonly name: string;
  /** Its purpose, in one line. */
  readonly description?: string;
  readonly tools?: Given;
  readonly hooks?: readonly Hook<State, Context>[];
  readonly criteria?: readonly ContinuationCriterion<State>[];
  /** Placed after the agent's own instructions. */
  readonly instructions?: string | ((facts: PromptFacts<State, Context>) => string);
}

const knownParts: readonly string[] = ['name', 'description', 'tools', 'hooks', 'criteria', 'instructions'];

function findProblem(given: Readonly<Record<string, unknown>>): string | undefined {
  const { hooks, criteria, tools, instructions, description } = given;
  checkKeys(`capability ${JSON.stringify(given['name'])}`, given, knownParts);
  if (description !== undefined && typeof description !== 'string') return 'must have a string as description.';
  if (tools !== undefined && (typeof tools !== 'object' || tools === null))
    return 'must have a list of tools, or an object of tools by name.';
  if (hooks !== undefined && !(Array.isArray(hooks) && hooks.every(isHook))) return 'must have a list of hooks, created with defineHook().';
  if (criteria !== undefined && !Array.isArray(criteria)) return 'must have a list of criteria.';
  if (instructions !== undefined && typeof instructions !== 'string' && typeof instructions !== 'function')
    return 'must have a string as instructions, or a function that returns one.';
  return undefined;
}

/** Throws if a value is not a capability. */
export function checkCapability(given: unknown): void {
  if (!isRecord(given) || typeof given['name'] !== 'string' || given['name'] === '')
    throw new InvalidArgumentError(
      `A capability needs a name: a non-empty string, not ${describeValue(isRecord(given) ? given['name'] : given)}. Create it with defineCapability({ name, … }).`,
    );
  const problem = findProblem(given);
  if (problem !== undefined) throw new InvalidArgumentError(`Capability "${given['name']}" ${problem}`);
}

/** Creates a capability for any kind of state. Throws if it could not work. */
export function defineAnyCapability<const Given extends Tools = readonly [], State extends RunState = RunState, Context = unknown>(
  parts: Capability<Given, State, Context>,
  // NoInfer: the surrounding type, such as a list of any capabilities, must not decide which tools it has.
): Capability<NoInfer<Given>, State, Context> {
  checkCapability(parts);
  return Object.freeze({ ...parts });
}

/** Throws if two capabilities have the same name. */
export function checkCapabilities(given: readonly Capability[]): void {
  for (const [index, capability] of given.entries()) {
    checkCapability(capability);
    if (given.findIndex(({ name }) => name === capability.name) !== index)
      throw new InvalidArgumentError(`The capability "${capability.name}" was added twice. Add it once.`);
  }
}
