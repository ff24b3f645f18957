import type { Context } from '@restatedev/restate-sdk';
import type { DurableEngine } from '../index.ts';

/**
 * The journal of a Restate handler, for `runDurably`. Do nothing else with the context while the agent runs. Set the inactivity and abort
 * time-outs of the handler to the longest time that a model or a tool may take.
 */
export const restateEngine = (ctx: Context): DurableEngine => ({
  record: (make) => ctx.run('row', make),
  sleep: (ms) => ctx.sleep(ms),
  ended: ctx.request().attemptCompletedSignal,
});
