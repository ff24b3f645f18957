import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import { StopReason } from '../continuation/index.ts';
import { defaultRedactor } from '../lib/index.ts';
import type { ExplainStateOptions, RunState } from '../step-by-step/index.ts';
import type { AnswerSchema } from '../tools/index.ts';
import { issuesText } from '../tools/index.ts';
import type { AgentResult } from './agent-result.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentTypes } from './agent-types.ts';

// A start that failed has no step to keep its failure on; who forbade says what happened.
export function endFailure(state: RunState): Failure {
  const [first] = state.startOutcome === undefined ? state.errors : [];
  if (first !== undefined) return first;
  const forbidding = state.continuationOutcome?.evaluations.find(({ decision }) => decision === 'forbid');
  const code = forbidding?.context['code'];
  return {
    type: 'unknown',
    code: typeof code === 'string' ? code : 'criterion-failed',
    message: forbidding?.reason ?? 'It failed without a reason.',
    retryable: false,
  };
}

const noOutput = (problem: string): Failure => ({
  type: 'validation',
  code: 'no-output',
  message: `It ended without an answer that fits the output schema: ${problem}`,
  retryable: false,
});

/** The output, or why there is none: a criterion ended the run before there was, or another agent ran the state. */
async function outputOf(
  { output }: AgentState,
  schema: AnswerSchema | undefined,
): Promise<{ readonly ok: true; readonly output: unknown } | { readonly ok: false; readonly error: Failure }> {
  if (schema === undefined) return { ok: true, output: undefined };
  if (output === undefined) return { ok: false, error: noOutput('there is none.') };
  try {
    const parsed = await schema.parse(output);
    return parsed.ok ? { ok: true, output: parsed.value } : { ok: false, error: noOutput(`${issuesText(parsed.issues)}.`) };
  } catch (error) {
    return { ok: false, error: noOutput(classifyError(error).message) };
  }
}

// What is shown is shown without secrets; the state keeps the truth.
export const redacted = (failure: Failure): Failure => ({ ...failure, message: defaultRedactor.text(failure.message) });

/** The end of a run as a result. The output is parsed again: what is stored is its JSON. */
export async function toResult<Types extends AgentTypes>(state: AgentState, schema: AnswerSchema | undefined): Promise<AgentResult<Types>> {
  const { text, usage, cost, stopReason = StopReason.Completed } = state;
  const base = {
    text,
    usage,
    state,
    explain: (options?: ExplainStateOptions) => state.explain(options),
    ...(cost !== undefined && { cost }),
  };
  switch (state.status) {
    case 'completed': {
      const read = await outputOf(state, schema);
      if (!read.ok) return { ...base, status: 'failed', stopReason, error: redacted(read.error) };
      return { ...base, status: 'completed', stopReason, output: read.output };
    }
    case 'stopped':
      return { ...base, status: 'stopped', stopReason };
    case 'failed':
      return { ...base, status: 'failed', stopReason, error: redacted(endFailure(state)) };
    // A run ends in one of the others, or with something to wait for.
    case 'waiting':
    case 'pending':
    case 'in_progress':
      return { ...base, status: 'waiting', waitingFor: state.waitingFor };
  }
}
