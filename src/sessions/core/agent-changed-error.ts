import { SteplineError } from '../../lib/index.ts';

/** The agent that a session belongs to and the one that is here, and what does not go together. */
type ChangedAgent = { readonly stored: string; readonly found: string } & (
  | { readonly policy: string }
  /** A call that waits, why it cannot run here, and the run inside that asked for it. */
  | { readonly toolName: string; readonly problem: string; readonly inside: string | undefined }
);

function describeChange(agentName: string, facts: ChangedAgent): string {
  const { stored, found } = facts;
  const versions = `agent "${agentName}" ${stored}, but this runtime has "${agentName}" ${found}`;
  if ('policy' in facts)
    return `The session was run by ${versions}, and onVersionChange is "${facts.policy}". Nothing was changed. Add that version to agents, or use onVersionChange: "continue".`;
  const asker = facts.inside !== undefined && stored === found ? `another version of "${facts.inside}"` : versions;
  return `The call of "${facts.toolName}" cannot be approved: ${facts.problem} It was asked for by ${asker}. The call is still waiting: reject it, or run that version of the agent.`;
}

/** A session belongs to another version of its agent, and this one may not continue it, or cannot run the call that it waits for. */
export class AgentChangedError extends SteplineError {
  override readonly name = 'AgentChangedError';
  readonly code = 'agent-changed';

  constructor(agentName: string, facts: ChangedAgent) {
    super(describeChange(agentName, facts));
  }
}
