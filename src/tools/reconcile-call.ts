import { isRecord } from '../lib/index.ts';
import type { ReadyCall } from './prepare-call.ts';
import type { RunCallOptions } from './run-call-options.ts';
import type { StoredResult } from './stored-result.ts';
import { toStoredResult } from './stored-result.ts';
import type { ExecutionTiming, ToolExecution } from './tool-execution.ts';
import { cancelledExecution, succeededExecution, unknownExecution } from './tool-execution.ts';

type Finding = { readonly type: 'unknown' | 'not-happened' } | ({ readonly type: 'happened' } & StoredResult);

async function readFinding({ tool, call }: ReadyCall, found: unknown): Promise<Finding> {
  if (!isRecord(found) || typeof found['happened'] !== 'boolean') return { type: 'unknown' };
  return found['happened'] ? { type: 'happened', ...(await toStoredResult(tool, found['result'], call)) } : { type: 'not-happened' };
}

/** Asks the tool about a call whose end nobody saw. A tool that cannot say leaves it unknown. */
export async function reconcileCall<Context>(
  ready: ReadyCall,
  { effects, key, idempotencyKey, context, state, timing }: RunCallOptions<Context> & { readonly timing: ExecutionTiming },
): Promise<ToolExecution> {
  const { call, tool } = ready;
  const { reconcile, timeoutMs } = tool;
  if (reconcile === undefined) return unknownExecution(call, timing);
  const found = await effects.run(
    `${key}/reconcile`,
    async (signal) => readFinding(ready, await reconcile(idempotencyKey, { context, signal, toolCallId: call.id, state })),
    { effect: 'pure', failsAs: 'tool', timeoutMs },
  );
  if (!found.ok || found.value.type === 'unknown') return unknownExecution(call, timing);
  if (found.value.type === 'happened') return succeededExecution(call, found.value, timing);
  return cancelledExecution(call, {
    ...timing,
    text: 'The call was interrupted before it took effect. Call it again if it is still wanted.',
  });
}
