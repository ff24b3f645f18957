import { classifyError } from '../errors/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { ResultTool } from './stored-result.ts';
import { toStoredResult } from './stored-result.ts';
import type { Tool } from './tool.ts';
import type { ExecutionTiming, ToolExecution } from './tool-execution.ts';
import { toFailedExecution, toSucceededExecution } from './tool-execution.ts';

/** Creates the execution of a call answered from outside: by a client tool, or with the true result of an unknown call. */
export async function toAnsweredExecution(
  call: ToolCall,
  value: unknown,
  { tool, ...timing }: ExecutionTiming & { readonly tool?: Tool | undefined },
): Promise<ToolExecution> {
  try {
    const known: ResultTool = tool === undefined || tool.type === 'provider' ? { name: call.name } : tool;
    return toSucceededExecution(call, await toStoredResult(known, value, call), { ...timing, maxResultChars: known.maxResultChars });
  } catch (error) {
    const failure = classifyError(error, { fallback: 'tool' });
    return toFailedExecution(call, failure, { ...timing, text: `The answer to "${call.name}" cannot be used: ${failure.message}` });
  }
}
