// Errors of sessions, and what tells them apart.
// Does not: know how an error travels to another process; wire-errors.ts does.
import { quoteText, readField, SteplineError } from '../../lib/index.ts';
import type { CrashLoop } from '../../step-by-step/index.ts';

/** True for an error of this package, from whatever copy of it, with one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): error is SteplineError =>
  SteplineError.is(error) && codes.includes(error.code);

/** A repeated request was stored while a step was open, and could not be applied after the step ended. */
export class ActionRefusedError extends SteplineError {
  override readonly name = 'ActionRefusedError';
  readonly code = 'action-refused';
  /** Code of the error that refused it. */
  readonly reason: string | undefined;

  constructor(why: string, reason: string | undefined) {
    super(`The action was stored, but could not be applied: ${why}`);
    this.reason = reason;
  }
}

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

/** The host's function that returns the context of a run failed. */
export class ContextFailedError extends SteplineError {
  override readonly name = 'ContextFailedError';
  readonly code = 'context-failed';

  constructor(sessionId: string, cause: unknown) {
    const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
    super(`context() failed for session "${sessionId}": ${why}. Nothing was run. Fix the function, then resume the session.`, cause);
  }
}

function describeAttempts(attempts: number): string {
  if (attempts === 0) return 'was open when the process ended';
  return attempts === 1 ? 'was resumed once, and the process ended' : `was resumed ${attempts} times, and the process ended each time`;
}

/** The open step of a session ended the process each time it was resumed. Nothing is done until somebody resumes or cancels the session. */
export class CrashLoopError extends SteplineError {
  override readonly name = 'CrashLoopError';
  readonly code = 'crash-loop';
  readonly sessionId: string;
  readonly attempts: number;

  constructor(sessionId: string, { attempts, step }: CrashLoop & { readonly step: number }) {
    super(`Session "${sessionId}" is waiting for a person: step ${step} ${describeAttempts(attempts)}. Resume or cancel the session.`);
    this.sessionId = sessionId;
    this.attempts = attempts;
  }
}

/** An answer was meant for another session. */
export class ForeignApprovalError extends SteplineError {
  override readonly name = 'ForeignApprovalError';
  readonly code = 'foreign-approval';

  constructor(waitId: string, sessions: { readonly own: string; readonly given: string }) {
    super(
      `The answer to "${waitId}" belongs to session "${sessions.given}", but was sent to session "${sessions.own}". Nothing was run. Answer in the session that asked.`,
    );
  }
}

/** An approval has a digest that was never given out. */
export class ForgedApprovalError extends SteplineError {
  override readonly name = 'ForgedApprovalError';
  readonly code = 'forged-approval';

  constructor(waitId: string) {
    super(
      `The digest for "${waitId}" does not match any arguments that this session asked about. Nothing was run. Pass the wait from session.waitingFor unchanged.`,
    );
  }
}

/** An answer came for a wait that was already answered or closed. */
export class LateAnswerError extends SteplineError {
  override readonly name = 'LateAnswerError';
  readonly code = 'late-answer';
  readonly waitId: string;

  constructor(waitId: string, how: string) {
    super(`"${waitId}" is no longer waiting: ${how}. This answer was not used. Reload the session to see its current state.`);
    this.waitId = waitId;
  }
}

/** Another worker owns the session, or has owned it since: nothing more is written from here. */
export class LeaseLostError extends SteplineError {
  override readonly name = 'LeaseLostError';
  readonly code = 'lease-lost';
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(`Session "${sessionId}" belongs to another worker now. Nothing was written. Read the session again; the other worker runs it.`);
    this.sessionId = sessionId;
  }
}

/** Actions of other processes wait for the session, and come first. */
export class MailWaitingError extends SteplineError {
  override readonly name = 'MailWaitingError';
  readonly code = 'mail-waiting';

  constructor(sessionId: string) {
    super(`Actions wait for session "${sessionId}" and come first. Nothing was written. Apply them, then write again.`);
  }
}

/** An error of another process whose class is not known here: a foreign one, or one of a newer release. */
export class RemoteError extends SteplineError {
  override readonly name: string;
  /** The code that it had there; `unclassified` if it had none. */
  readonly code: string;

  constructor(message: string, { name, code }: { readonly name: string; readonly code: string }) {
    super(message);
    this.name = name;
    this.code = code;
  }
}

/** A request id was used again for something else. */
export class RequestReusedError extends SteplineError {
  override readonly name = 'RequestReusedError';
  readonly code = 'request-reused';

  constructor(requestId: string) {
    super(
      `The request id "${requestId}" was already used with different content. Nothing was done. Use a new requestId for each request, and repeat one only to retry the same request.`,
    );
  }
}

/** The runtime is being shut down, or another one has taken the store over. */
export class RuntimeClosedError extends SteplineError {
  override readonly name = 'RuntimeClosedError';
  readonly code = 'runtime-closed';
  /** True if the action is stored and the next runtime continues with it; false if it had no effect. */
  readonly isStored: boolean;

  constructor(why: string, { isStored = false }: { readonly isStored?: boolean } = {}) {
    const then = isStored
      ? 'The action is stored, and the next runtime on this store continues with it. If you repeat it, use the same requestId.'
      : 'Nothing was stored. Repeat the action on the runtime that owns the store now.';
    super(`The session runtime did not accept the action: ${why}. ${then}`);
    this.isStored = isStored;
  }
}

/** A write did not follow the last entry of its session's log. */
export class SessionConflictError extends SteplineError {
  override readonly name = 'SessionConflictError';
  readonly code = 'session-conflict';

  constructor(sessionId: string, heads: { readonly expected: number; readonly found: number }) {
    super(
      heads.expected === 0
        ? `Session "${sessionId}" already exists. Nothing was written. Use another id, or the existing session.`
        : `Session "${sessionId}" has changed: its log ends with entry ${heads.found}, but the write expected entry ${heads.expected}. Nothing was written. Reload the session and try again.`,
    );
  }
}

/** The stored data of a session cannot be trusted. It is set aside; other sessions are not affected. */
export class SessionDamagedError extends SteplineError {
  override readonly name = 'SessionDamagedError';
  readonly code = 'session-damaged';
  readonly sessionId: string;
  /** Description of the damage and its place. */
  readonly damage: string;

  constructor(sessionId: string, damage: string, cause?: unknown) {
    super(
      `Session "${sessionId}" is damaged: ${damage}. It was quarantined and left unchanged. Restore it from a backup, or continue in a new session.`,
      cause,
    );
    this.sessionId = sessionId;
    this.damage = damage;
  }
}

/** The session was deleted. Its id is not used again. */
export class SessionDeletedError extends SteplineError {
  override readonly name = 'SessionDeletedError';
  readonly code = 'session-deleted';
  readonly sessionId: string;
  readonly deletedAt: number;

  constructor(sessionId: string, deletedAt: number) {
    super(
      `Session "${sessionId}" was deleted at ${new Date(deletedAt).toISOString()}. Create a new session with another id; deleted ids cannot be reused.`,
    );
    this.sessionId = sessionId;
    this.deletedAt = deletedAt;
  }
}

/** An approval was given for arguments that have changed since. */
export class StaleApprovalError extends SteplineError {
  override readonly name = 'StaleApprovalError';
  readonly code = 'stale-approval';

  constructor(waitId: string) {
    super(
      `The arguments of "${waitId}" changed after they were shown for approval. Nothing was run. Show the call again and ask for a new approval.`,
    );
  }
}

/** Advice for each reason why a store cannot be used. */
const storeAdvice = {
  closed: 'Open it again.',
  full: 'Free some disk space, then resume the session.',
  'read-only': 'Check the permissions of the file and its folder.',
  busy: 'Nothing was written. Try again later, or stop the process that holds it.',
  'not-a-store': 'Nothing was changed. Use another path.',
  'newer-schema': 'Nothing was changed. Update Stepline.',
  'older-schema': 'Nothing was changed. It cannot be upgraded: start with a new file or database.',
  failed: 'Nothing was written. Resume the session once the store works again.',
} as const;

/** Reason why a store cannot be used. */
export type StoreProblem = keyof typeof storeAdvice;

/** The store cannot be used. What was kept before is still there. */
export class StoreUnavailableError extends SteplineError {
  override readonly name = 'StoreUnavailableError';
  readonly code = 'store-unavailable';
  readonly problem: StoreProblem;

  /** `what` is the problem in words; with `advice`, if there is better advice than the usual one for such a problem. */
  constructor(problem: StoreProblem, what: string | { readonly what: string; readonly advice: string }, cause?: unknown) {
    const { what: words, advice } = typeof what === 'string' ? { what, advice: storeAdvice[problem] } : what;
    super(`The session store cannot be used: ${words}. ${advice}`, cause);
    this.problem = problem;
  }
}

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

/** There is no such session. */
export class UnknownSessionError extends SteplineError {
  override readonly name = 'UnknownSessionError';
  readonly code = 'unknown-session';

  constructor(sessionId: string) {
    super(`There is no session ${quoteText(sessionId)} in this store. Check the id, or create the session with create().`);
  }
}

/** A fork was asked for at a step that was never recorded, or before an execution that never began. */
export class UnknownStepError extends SteplineError {
  override readonly name = 'UnknownStepError';
  readonly code = 'unknown-step';

  constructor(sessionId: string, at: { readonly execution: number; readonly step: number }) {
    const missing =
      at.step === 0
        ? `has no execution ${at.execution} that a message began`
        : `has no recorded step ${at.step} in execution ${at.execution}`;
    super(`Session "${sessionId}" ${missing}. Choose ${at.step === 0 ? 'one' : 'a step'} from session.state.session.executions.`);
  }
}

/** Creates the error for data of another release. */
export function createSchemaError(name: string, found: number, own: number): StoreUnavailableError {
  const [problem, release] = found > own ? (['newer-schema', 'a newer'] as const) : (['older-schema', 'an earlier'] as const);
  return new StoreUnavailableError(problem, `${name} has schema ${found}, written by ${release} release; this one uses schema ${own}`);
}

/** True if the host has closed the store. */
export const isStoreClosed = (error: unknown): boolean => hasCode(error, 'store-unavailable') && readField(error, 'problem') === 'closed';
