import { SteplineError } from '../lib/index.ts';

/** A session belongs to an agent that the runtime does not have. */
export class UnknownAgentError extends SteplineError {
  override readonly name = 'UnknownAgentError';
  readonly code = 'unknown-agent';

  constructor(agentId: string, known: readonly string[]) {
    super(`No agent "${agentId}" was given to this runtime; it has ${known.join(', ')}. Nothing was changed.`);
  }
}
