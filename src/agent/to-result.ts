import type { Failure } from '../errors/index.ts';
import { StopReason } from '../continuation/index.ts';
import type { AnswerSchema } from '../tools/index.ts';
import { issuesText } from '../tools/index.ts';
import type { AgentResult } from './agent-result.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentTypes } from './agent-types.ts';
import { NoOutputError } from './no-output-error.ts';

// A start that failed has no step to keep its failure on; who forbade says what happened.
function errorOf(state: AgentState): Failure {
  const [first] = state.startOutcome === undefined ? state.errors : [];
  if (first !== undefined) return first;
  const forbidding = state.continuationOutcome?.evaluations.find(({ decision }) => decision === 'forbid');
  return { type: 'unknown', code: 'criterion-failed', message: forbidding?.reason ?? 'It failed without a reason.', retryable: false };
}

async function outputOf(state: AgentState, schema: AnswerSchema | undefined): Promise<unknown> {
  if (schema === undefined) return undefined;
  if (state.output === undefined) throw new NoOutputError('there is none.');
  const parsed = await schema.parse(state.output);
  if (parsed.ok) return parsed.value;
  throw new NoOutputError(`${issuesText(parsed.issues)}.`);
}

/** The end of a run as a result. The output is parsed again: what is stored is its JSON. */
export async function toResult<Types extends AgentTypes>(state: AgentState, schema: AnswerSchema | undefined): Promise<AgentResult<Types>> {
  const { text, usage, cost, stopReason = StopReason.Completed } = state;
  const base = { text, usage, state, explain: () => state.explain(), ...(cost !== undefined && { cost }) };
  switch (state.status) {
    case 'completed':
      return { ...base, status: 'completed', stopReason, output: await outputOf(state, schema) };
    case 'stopped':
      return { ...base, status: 'stopped', stopReason };
    case 'failed':
      return { ...base, status: 'failed', stopReason, error: errorOf(state) };
    // A run ends in one of the others, or with something to wait for.
    case 'waiting':
    case 'pending':
    case 'in_progress':
      return { ...base, status: 'waiting', waitingFor: state.waitingFor };
  }
}
