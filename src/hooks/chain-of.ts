import { InvalidArgumentError } from '../lib/index.ts';
import { isHook } from './hook.ts';
import type { HookChain, HookChainOptions } from './hook-chain.ts';

/** The chain of these hooks; undefined where there are none. Made by one of them: who has no hooks needs no chain's code. */
export function chainOf(options: HookChainOptions): HookChain | undefined {
  const { hooks } = options;
  if (hooks.length === 0) return undefined;
  const maker = hooks.find(isHook);
  if (maker === undefined) throw new InvalidArgumentError('hooks[0] is no hook; make it with defineHook({ name, … }).');
  // Holds: this is what hooks make; see define-any-hook.ts.
  return maker.chain(options as never) as HookChain;
}
