import type { JsonObject } from '../../lib/index.ts';
import type { ExecutionStatus } from '../../step-by-step/index.ts';
import { SlimNotResumableError } from './slim-not-resumable-error.ts';
import type { SlimContinuation } from './slim-continuation.ts';
import type { SlimMessage } from './slim-message.ts';
import type { ReadSlimPayload, SlimOmitted } from './slim-payload.ts';
import { slimKind } from './slim-payload.ts';
import type { SlimStep, SlimUsage, SlimWait } from './slim-step.ts';

/** A state as a slim payload shows it. For display only: it is not an AgentState, and no agent runs it. */
export class SlimAgentState {
  /** Names the kind of data, so that code that expects a stored state can say what it got. */
  readonly kind: typeof slimKind = slimKind;
  /** The payload as it came, with the fields that this version does not know. */
  readonly payload: JsonObject;
  /** Always false: see `toState`. */
  readonly resumable = false;
  readonly agentId: string;
  readonly parentAgentId: string | undefined;
  readonly status: ExecutionStatus;
  /** Number of this execution in the session, from 1 on. */
  readonly executionNumber: number;
  /** Number of steps in the execution, including those that are not shown. */
  readonly stepCount: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly cumulativeSeconds: number;
  readonly usage: SlimUsage;
  readonly messages: readonly SlimMessage[];
  readonly currentStep: SlimStep | undefined;
  readonly steps: readonly SlimStep[];
  readonly waitingFor: readonly SlimWait[];
  readonly lastContinuation: SlimContinuation | undefined;
  /** Undefined if it was left out. */
  readonly metadata: JsonObject | undefined;
  /** Counts of what is not shown. */
  readonly omitted: SlimOmitted;

  constructor({ known, raw }: ReadSlimPayload) {
    const { execution } = known;
    this.payload = raw;
    this.agentId = known.agent_id;
    this.parentAgentId = known.parent_agent_id ?? undefined;
    this.status = known.status;
    this.executionNumber = execution.number;
    this.stepCount = execution.step_count;
    this.startedAt = Date.parse(execution.started_at);
    this.updatedAt = Date.parse(execution.updated_at);
    this.cumulativeSeconds = execution.cumulative_seconds;
    this.usage = known.usage;
    this.messages = known.messages;
    this.currentStep = known.current_step ?? undefined;
    this.steps = known.steps;
    this.waitingFor = known.waiting_for;
    this.lastContinuation = known.last_continuation ?? undefined;
    this.metadata = known.metadata ?? undefined;
    this.omitted = known.omitted;
    Object.freeze(this);
  }

  /** Always throws: a payload lacks what a run needs. The error says what to store instead. */
  toState(): never {
    throw new SlimNotResumableError(this.agentId);
  }

  toJSON(): JsonObject {
    return this.payload;
  }
}
