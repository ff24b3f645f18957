import { numberNames } from '../continuation/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import type { Hook } from './hook.ts';
import { isHook } from './hook.ts';
import type { HookChain, HookChainOptions } from './hook-chain.ts';

/** Gives a number to each hook whose name is taken, by a criterion or an earlier hook: `audit`, `audit#2`. Throws for what is not a hook. */
export function numberHooks(hooks: readonly Hook<never>[], taken: readonly string[]): readonly Hook<never>[] {
  const strange = hooks.findIndex((hook) => !isHook(hook));
  if (strange !== -1) throw new InvalidArgumentError(`hooks[${strange}] is not a hook. Create it with defineHook({ name, … }).`);
  const names = numberNames([...taken, ...hooks.map(({ name }) => name)]).slice(taken.length);
  // Holds: a hook under another name is a hook of the same kind.
  return hooks.map((hook, index) => (names[index] === hook.name ? hook : (hook.withName(names[index] ?? hook.name) as Hook<never>)));
}

/** Creates the chain of these hooks; undefined if there are none. One of them makes it, so an agent without hooks needs no chain code. */
export function createChain(options: HookChainOptions): HookChain | undefined {
  // Holds: this is what hooks make; see define-any-hook.ts.
  return options.hooks[0]?.chain(options) as HookChain | undefined;
}
