import { isRecord } from '../lib/index.ts';
import type { ReadyCall } from './prepare-call.ts';
import type { RunCallOptions } from './run-call-options.ts';
import type { SettledResult } from './settle-result.ts';
import { settleResult } from './settle-result.ts';
import type { ExecutionTiming, ToolExecution } from './tool-execution.ts';
import { cancelledExecution, succeededExecution, unknownExecution } from './tool-execution.ts';

type Finding = { readonly type: 'unknown' } | { readonly type: 'not-happened' } | ({ readonly type: 'happened' } & SettledResult);

async function finding({ tool, call }: ReadyCall, found: unknown): Promise<Finding> {
  if (!isRecord(found) || typeof found['happened'] !== 'boolean') return { type: 'unknown' };
  return found['happened'] ? { type: 'happened', ...(await settleResult(tool, found['result'], call)) } : { type: 'not-happened' };
}

/** Asks the tool what became of a call whose end nobody saw. A tool that cannot say leaves it unknown. */
export async function reconcileCall<Context>(
  ready: ReadyCall,
  options: RunCallOptions<Context> & { readonly timing: ExecutionTiming },
): Promise<ToolExecution> {
  const { run, key, idempotencyKey, context, state, timing } = options;
  const { call, tool } = ready;
  const { reconcile, timeoutMs } = tool;
  if (reconcile === undefined) return unknownExecution(call, timing);
  const ask = async (signal: AbortSignal): Promise<Finding> => {
    // Holds: the set says which context its tools need.
    const ctx = { context: context as never, signal, toolCallId: call.id, state };
    return finding(ready, await reconcile(idempotencyKey, ctx));
  };
  const outcome = await run(`${key}/reconcile`, ask, { effect: 'pure', failsAs: 'tool', ...(timeoutMs !== undefined && { timeoutMs }) });
  if (!outcome.ok || outcome.value.type === 'unknown') return unknownExecution(call, timing);
  if (outcome.value.type === 'happened') return succeededExecution(call, outcome.value, timing);
  return cancelledExecution(call, {
    ...timing,
    text: 'The call was interrupted before it took effect. Call it again if it is still wanted.',
  });
}
