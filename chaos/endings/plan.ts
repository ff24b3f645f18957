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
  const matchStopped = (stopReason: string, step: number): RegExp => new RegExp(`^Stopped after step ${step}: ${stopReason}\\.`);
  switch (ending) {
    case Ending.Completed:
      return {
        status: 'completed',
        stopReason: 'completed',
        resolvedBy: 'ToolCallPresenceCheck',
        step: size,
        says: [new RegExp(`^Finished after step ${size}: completed\\.`), /ToolCallPresenceCheck let go/],
      };
    case Ending.StepsLimit:
      return {
        status: 'stopped',
        stopReason: 'steps_limit',
        resolvedBy: 'StepsLimit',
        step: size,
        says: [matchStopped('steps_limit', size), new RegExp(`StepsLimit: ${size} of ${size} steps used`)],
      };
    case Ending.TokenLimit:
      return {
        status: 'stopped',
        stopReason: 'token_limit',
        resolvedBy: 'TokenUsageLimit',
        step: size,
        says: [
          matchStopped('token_limit', size),
          new RegExp(`TokenUsageLimit: ${size * tokensPerStep} of ${toTokenLimit(size)} tokens used`),
        ],
      };
    case Ending.TimeLimit:
      return {
        status: 'stopped',
        stopReason: 'time_limit',
        resolvedBy: 'ExecutionTimeLimit',
        step: 2,
        says: [
          matchStopped('time_limit', 2),
          /cut off at the time limit/,
          /ExecutionTimeLimit: [\d.]+ s of 0\.4 s of wall-clock time used/,
        ],
      };
    case Ending.OwnCriterion:
      return {
        status: 'stopped',
        stopReason: 'guard',
        resolvedBy: 'Reputation',
        step: size,
        says: [matchStopped('guard', size), new RegExp(`Reputation: a score of ${size * 10} after ${size} steps`)],
      };
    case Ending.RetriesUsedUp:
      return {
        status: 'failed',
        stopReason: 'retry_limit',
        resolvedBy: 'ErrorPolicyCriterion',
        step: size,
        says: [
          matchStopped('retry_limit', size),
          new RegExp(`Failed: tool error in export .*disk ${session.id} is full`),
          new RegExp(`ErrorPolicyCriterion: tool error in export: attempt ${size} failed, ${size} allowed`),
        ],
      };
    case Ending.ModelError:
      return {
        status: 'failed',
        stopReason: 'error',
        resolvedBy: 'ErrorPolicyCriterion',
        step: size,
        says: [
          matchStopped('error', size),
          new RegExp(`Failed: model error .*no model for ${session.id}`),
          /ErrorPolicyCriterion: model error: the policy would retry, but trying again cannot help/,
        ],
      };
    case Ending.Cancelled:
      return {
        status: 'stopped',
        stopReason: 'user_requested',
        resolvedBy: 'StopRequested',
        step: size,
        says: [matchStopped('user_requested', size), new RegExp(`StopRequested: ${toCancelReason(session)}`)],
      };
    case Ending.Rejected:
      return {
        status: 'completed',
        stopReason: 'completed',
        resolvedBy: 'ToolCallPresenceCheck',
        step: size + 1,
        says: [new RegExp(`^Finished after step ${size + 1}: completed\\.`)],
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
        says: [matchStopped('finish_reason', size), /FinishReasonCheck: finish reason "length" is among length/],
      };
    case Ending.AwaitsGrant:
      return {
        status: 'waiting',
        step: size,
        says: [new RegExp(`^Waiting after step ${size} for more steps`), new RegExp(`StepsLimit: ${size} of ${size} steps used`)],
      };
  }
}
