import { SteplineError } from '../../lib/index.ts';

/** Somebody wanted to run what was made for display. */
export class SlimNotResumableError extends SteplineError {
  override readonly name = 'SlimNotResumableError';
  readonly code = 'slim-not-resumable';
  readonly agentId: string;

  constructor(agentId: string) {
    super(
      `This slim payload of agent "${agentId}" is for display and cannot be run. To pause and resume, store the state itself: AgentState.toJSON() writes it, agent.restore() reads it.`,
    );
    this.agentId = agentId;
  }
}
