import { classifyError } from '../errors/index.ts';
import type { ToolCall } from '../messages/index.ts';
import { settleResult } from './settle-result.ts';
import type { Tool } from './tool.ts';
import type { ExecutionTiming, ToolExecution } from './tool-execution.ts';
import { failedExecution, succeededExecution } from './tool-execution.ts';

/** A call that somebody outside settled: a client tool's answer, or the true result of a call whose end nobody saw. */
export async function answeredExecution(
  call: ToolCall,
  value: unknown,
  { tool, ...timing }: ExecutionTiming & { readonly tool?: Tool | undefined },
): Promise<ToolExecution> {
  const settling = tool === undefined || tool.type === 'provider' ? { name: call.name } : tool;
  try {
    return succeededExecution(call, await settleResult(settling, value, call), timing);
  } catch (error) {
    const failure = classifyError(error, { fallback: 'tool' });
    return failedExecution(call, failure, { ...timing, text: `The answer to "${call.name}" cannot be used: ${failure.message}` });
  }
}
