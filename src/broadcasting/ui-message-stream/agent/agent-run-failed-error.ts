import { SteplineError } from '../../../lib/index.ts';

/** A run behind `asAiSdkAgent()` failed, or waits for something that a stateless agent cannot continue with. */
export class AgentRunFailedError extends SteplineError {
  override readonly name = 'AgentRunFailedError';
  readonly code = 'agent-run-failed';
}
