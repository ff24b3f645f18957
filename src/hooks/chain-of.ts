import { InvalidArgumentError } from '../lib/index.ts';
import { isHook } from './hook.ts';
import type { HookChain, HookChainOptions } from './hook-chain.ts';

/** Creates the chain of these hooks; undefined if there are none. One of them makes it, so an agent without hooks needs no chain code. */
export function createChain(options: HookChainOptions): HookChain | undefined {
  const { hooks } = options;
  if (hooks.length === 0) return undefined;
  const maker = hooks.find(isHook);
  if (maker === undefined) throw new InvalidArgumentError('hooks[0] is not a hook. Create it with defineHook({ name, … }).');
  // Holds: this is what hooks make; see define-any-hook.ts.
  return maker.chain(options) as HookChain;
}
