import { SteplineError } from '../lib/index.ts';

/** A session belongs to another version of its agent, and the rule is not to continue with this one. */
export class AgentChangedError extends SteplineError {
  override readonly name = 'AgentChangedError';
  readonly code = 'agent-changed';

  constructor(agentId: string, facts: { readonly stored: string; readonly found: string; readonly policy: string }) {
    super(
      `The session was carried on by "${agentId}" ${facts.stored}; the runtime has ${facts.found}, and its rule is onVersionChange: "${facts.policy}". Nothing was changed. Give the runtime that version too, or choose another rule.`,
    );
  }
}
