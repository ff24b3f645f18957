import type { Context } from '@restatedev/restate-sdk';
import type { DurableEngine } from '../index.ts';

/**
 * Creates an engine for runDurably() inside a Restate handler. Do not use the context for anything else while the agent runs. Set the
 * inactivity and abort timeouts of the handler to the longest time that a model or a tool may take.
 */
export const restateEngine = (ctx: Context): DurableEngine => ({
  record: (make) => ctx.run('row', make),
  sleep: (ms) => ctx.sleep(ms),
  signal: ctx.request().attemptCompletedSignal,
});
