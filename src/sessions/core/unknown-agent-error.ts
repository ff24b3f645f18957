import { quoteText, SteplineError } from '../../lib/index.ts';

/** A session belongs to an agent that the runtime does not have. */
export class UnknownAgentError extends SteplineError {
  override readonly name = 'UnknownAgentError';
  readonly code = 'unknown-agent';

  constructor(agentName: string, known: readonly string[]) {
    const found = known.length === 0 ? 'no agents' : known.join(', ');
    super(
      `This runtime has no agent ${quoteText(agentName)}; it has ${found}. Nothing was changed. Add the agent to agents, or check the id.`,
    );
  }
}
