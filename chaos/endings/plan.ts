// The endings, and what has to be said about each: written down here, not read from what Stepline says.

/** The way in which a session ends, or waits. */
export const Ending = {
  Completed: 'completed',
  StepsLimit: 'steps-limit',
  TokenLimit: 'token-limit',
  TimeLimit: 'time-limit',
  OwnCriterion: 'own-criterion',
  RetriesUsedUp: 'retries-used-up',
  ModelError: 'model-error',
  Cancelled: 'cancelled',
  Rejected: 'rejected',
  AwaitsApproval: 'awaits-approval',
  FinishReason: 'finish-reason',
  AwaitsGrant: 'awaits-grant',
} as const;
export type Ending = (typeof Ending)[keyof typeof Ending];

export const endings: readonly Ending[] = Object.values(Ending);

/** One session of the plan. */
export interface PlannedSession {
  readonly id: string;
  readonly ending: Ending;
  /** From 2 to 6; makes the numbers of sessions with the same ending differ. */
  readonly size: number;
  /** Id of the agent that runs it. */
  readonly agent: string;
}

/** Tokens of each answer of the model. */
export const tokensPerStep = 120;

/** Wall time of the agent that runs out of it. */
export const wallMs = 400;

/** Agents differ in their limits if the ending is a limit. */
const hasOwnLimits: readonly Ending[] = [Ending.StepsLimit, Ending.TokenLimit, Ending.RetriesUsedUp, Ending.AwaitsGrant];

export const toAgentId = (ending: Ending, size: number): string => (hasOwnLimits.includes(ending) ? `${ending}-${size}` : ending);

export function planSessions(count: number): readonly PlannedSession[] {
  return Array.from({ length: count }, (_, index) => {
    const ending = endings[index % endings.length] ?? Ending.Completed;
    const size = 2 + (Math.floor(index / endings.length) % 5);
    return { id: `ending-${String(index).padStart(4, '0')}`, ending, size, agent: toAgentId(ending, size) };
  });
}

/** Expected explanation of a session. */
export interface ExpectedAnswer {
  readonly status: string;
  readonly stopReason?: string;
  readonly resolvedBy?: string;
  readonly step: number;
  /** Rule, numbers and step in words. */
  readonly says: readonly RegExp[];
}

export const toCancelReason = ({ id, size }: PlannedSession): string => `the customer of ${id} called ${size} times`;

/** The tokens that are spent when a limit of so many steps' worth and a bit is reached. */
export const toTokenLimit = (size: number): number => size * tokensPerStep - 50;

export function expectAnswer(session: PlannedSession): ExpectedAnswer {
  const { ending, size } = session;
  const matchStopped = (why: string, step: number): RegExp => new RegExp(`^Stopped after step ${step}: ${why}`);
  const matchRule = (rule: string): RegExp => new RegExp(`^Decided by ${rule}\\b`, 'm');
  switch (ending) {
    case Ending.Completed:
      return {
        status: 'completed',
        stopReason: 'completed',
        resolvedBy: 'ToolCallPresenceCheck',
        step: size,
        says: [new RegExp(`^Completed in step ${size}: the model answered and called no tools`), matchRule('ToolCallPresenceCheck')],
      };
    case Ending.StepsLimit:
      return {
        status: 'stopped',
        stopReason: 'steps_limit',
        resolvedBy: 'StepsLimit',
        step: size,
        says: [matchStopped(`the step limit was reached \\(${size} of ${size}\\)`, size), matchRule('StepsLimit')],
      };
    case Ending.TokenLimit:
      return {
        status: 'stopped',
        stopReason: 'token_limit',
        resolvedBy: 'TokenUsageLimit',
        step: size,
        says: [
          matchStopped(`the token limit was reached \\(${size * tokensPerStep} of ${toTokenLimit(size)}\\)`, size),
          matchRule('TokenUsageLimit'),
        ],
      };
    case Ending.TimeLimit:
      return {
        status: 'stopped',
        stopReason: 'time_limit',
        resolvedBy: 'ExecutionTimeLimit',
        step: 2,
        says: [
          matchStopped('the time limit was reached \\([\\d.]+ of 0\\.4 s\\)', 2),
          /cut off at the time limit/,
          matchRule('ExecutionTimeLimit'),
        ],
      };
    case Ending.OwnCriterion:
      return {
        status: 'stopped',
        stopReason: 'guard',
        resolvedBy: 'Reputation',
        step: size,
        says: [new RegExp(`^Stopped after step ${size} by Reputation: a score of ${size * 10} after ${size} steps`)],
      };
    case Ending.RetriesUsedUp:
      return {
        status: 'failed',
        stopReason: 'retry_limit',
        resolvedBy: 'ErrorPolicyCriterion',
        step: size,
        says: [
          new RegExp(`^Failed after step ${size}: \\w+ failure in a row \\(limit ${size}\\)`),
          new RegExp(`tool export, disk ${session.id} is full`),
          matchRule('ErrorPolicyCriterion'),
        ],
      };
    case Ending.ModelError:
      return {
        status: 'failed',
        stopReason: 'error',
        resolvedBy: 'ErrorPolicyCriterion',
        step: size,
        says: [
          new RegExp(`^Failed in step ${size}: model, .*no model for ${session.id}`),
          matchRule('ErrorPolicyCriterion'),
          /a retry cannot fix/,
        ],
      };
    case Ending.Cancelled:
      return {
        status: 'stopped',
        stopReason: 'user_requested',
        resolvedBy: 'StopRequested',
        step: size,
        says: [new RegExp(`^Cancelled by \\w+ \\w+ step ${size}`), new RegExp(toCancelReason(session)), matchRule('StopRequested')],
      };
    case Ending.Rejected:
      return {
        status: 'completed',
        stopReason: 'completed',
        resolvedBy: 'ToolCallPresenceCheck',
        step: size + 1,
        says: [new RegExp(`^Completed in step ${size + 1}: the model answered and called no tools`), /rejected pay/],
      };
    case Ending.AwaitsApproval:
      return {
        status: 'waiting',
        step: size - 1,
        says: [new RegExp(`^Waiting in step ${size} for approval of pay \\(pay-${session.id}\\)`)],
      };
    case Ending.FinishReason:
      return {
        status: 'stopped',
        stopReason: 'finish_reason',
        resolvedBy: 'FinishReasonCheck',
        step: size,
        says: [new RegExp(`^Stopped after step ${size}: .*length`), matchRule('FinishReasonCheck')],
      };
    case Ending.AwaitsGrant:
      return {
        status: 'waiting',
        step: size,
        says: [
          new RegExp(`^Waiting after step ${size} for more steps: the step limit was reached \\(${size} of ${size}\\)`),
          matchRule('StepsLimit'),
        ],
      };
  }
}
