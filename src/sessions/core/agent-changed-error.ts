import { SteplineError } from '../../lib/index.ts';

/** A session belongs to another version of its agent, and the rule is not to continue with this one. */
export class AgentChangedError extends SteplineError {
  override readonly name = 'AgentChangedError';
  readonly code = 'agent-changed';

  constructor(agentName: string, facts: { readonly stored: string; readonly found: string; readonly policy: string }) {
    super(
      `The session was run by agent "${agentName}" ${facts.stored}, but this runtime has "${agentName}" ${facts.found}, and onVersionChange is "${facts.policy}". Nothing was changed. Add that version to agents, or use onVersionChange: "continue".`,
    );
  }
}
