import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import type { OutputReading } from '../step-by-step/index.ts';
import type { AnswerSchema } from '../tools/index.ts';
import { issuesText } from '../tools/index.ts';
import type { ToolUseState } from './tool-use-state.ts';

const noOutput = (problem: string): { readonly ok: false; readonly error: Failure } => ({
  ok: false,
  error: {
    type: 'validation',
    code: 'no-output',
    message: `It ended without an answer that fits the output schema: ${problem}`,
    retryable: false,
  },
});

/**
 * Parses the output of a completed state again: its JSON is stored, not the parsed value. There is none if a criterion ended the run
 * before there was an answer, or if the state was run by another agent.
 */
export async function readOutput({ output }: ToolUseState, schema: AnswerSchema | undefined): Promise<OutputReading<unknown>> {
  if (schema === undefined) return { ok: true, output: undefined };
  if (output === undefined) return noOutput('there is none.');
  try {
    const parsed = await schema.parse(output);
    return parsed.ok ? { ok: true, output: parsed.value } : noOutput(`${issuesText(parsed.issues)}.`);
  } catch (error) {
    return noOutput(classifyError(error).message);
  }
}
