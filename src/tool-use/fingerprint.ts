import type { ErrorPolicy } from '../errors/index.ts';
import type { Json } from '../lib/index.ts';
import { stableStringify, toCanonical } from '../lib/index.ts';
import type { Rules } from './process.ts';
import type { Setup } from './setup.ts';
import type { ToolUseState } from './tool-use-state.ts';

// FNV-1a, twice with different seeds: enough to tell configurations apart, and the same on every platform without waiting.
function hash(text: string, seed: number): string {
  let value = seed;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, '0');
}

// What is no JSON cannot be compared; it must not take the rest with it.
function toJson(value: unknown): Json {
  const canonical = toCanonical(value);
  return canonical.ok ? canonical.value : canonical.problem;
}

// One that stands alone is written as it always was: the fingerprint of an agent stays what it is.
function toWords(instructions: Setup<never>['instructions']): string | readonly string[] | undefined {
  const words = instructions.map((each) => (typeof each === 'function' ? String(each) : each));
  return words.length > 1 ? words : words[0];
}

/** The fingerprint of these values, whatever their order. */
export function hashConfiguration(parts: Readonly<Record<string, unknown>>): string {
  const text = stableStringify(Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, toJson(part)])));
  return `${hash(text, 0x811c9dc5)}${hash(text, 0x9747b28c)}`;
}

/** Two orchestrators with the same fingerprint have the same instructions, tools, limits, policy and answers. */
export function computeFingerprint<Context, State extends ToolUseState>(setup: Setup<Context>, rules: Rules<State>): string {
  const { instructions, tools, driver, output, settings, hooks, capabilities } = setup;
  const policy: ErrorPolicy = rules.policy;
  const { onLimit = 'stop', ...limits } = rules.limits;
  return hashConfiguration({
    instructions: toWords(instructions),
    ...(hooks !== undefined && { hooks: hooks.hooks.map(({ name, order, points, changes }) => ({ name, order, points, changes })) }),
    ...(capabilities.length > 0 && { capabilities: capabilities.map(({ name }) => name) }),
    tools: tools.fingerprint(),
    limits: Object.fromEntries(Object.entries({ ...limits, onLimit }).map(([name, limit]) => [name, String(limit)])),
    policy: policy.toJSON(),
    criteria: rules.criteria?.map(({ name }) => name) ?? [],
    finishReasons: rules.finishReasons ?? [],
    driver: driver.name,
    output: output?.json,
    settings: { ...settings, headers: undefined },
  });
}
