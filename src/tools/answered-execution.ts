import { classifyError } from '../errors/index.ts';
import type { ToolCall } from '../messages/index.ts';
import { toStoredResult } from './stored-result.ts';
import type { Tool } from './tool.ts';
import type { ExecutionTiming, ToolExecution } from './tool-execution.ts';
import { failedExecution, succeededExecution } from './tool-execution.ts';

/** A call whose result came from outside: a client tool's answer, or the true result of a call whose end nobody saw. */
export async function answeredExecution(
  call: ToolCall,
  value: unknown,
  { tool, ...timing }: ExecutionTiming & { readonly tool?: Tool | undefined },
): Promise<ToolExecution> {
  try {
    return succeededExecution(
      call,
      await toStoredResult(tool === undefined || tool.type === 'provider' ? { name: call.name } : tool, value, call),
      timing,
    );
  } catch (error) {
    const failure = classifyError(error, { fallback: 'tool' });
    return failedExecution(call, failure, { ...timing, text: `The answer to "${call.name}" cannot be used: ${failure.message}` });
  }
}
