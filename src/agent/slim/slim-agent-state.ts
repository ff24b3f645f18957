import type { JsonObject } from '../../lib/index.ts';
import type { ExecutionStatus } from '../../step-by-step/index.ts';
import { SlimNotResumableError } from './slim-not-resumable-error.ts';
import type { SlimContinuation, SlimMessage, SlimOmitted, SlimPayload, SlimStep, SlimUsage, SlimWait } from './slim-payload.ts';
import { slimKind } from './slim-payload.ts';

/** A payload that was read: what is known of it, and all of it. */
export interface ReadSlimPayload {
  readonly known: SlimPayload;
  readonly raw: JsonObject;
}

/** What a slim payload shows of a state. For display: it is no AgentState, and no agent runs it. */
export class SlimAgentState {
  /** So that whoever takes it for a stored state is told what it is. */
  readonly kind: typeof slimKind = slimKind;
  /** The payload as it came, with the fields that this version does not know. */
  readonly payload: JsonObject;
  /** Always: see `toState`. */
  readonly resumable = false;
  readonly #known: SlimPayload;

  constructor({ known, raw }: ReadSlimPayload) {
    this.#known = known;
    this.payload = raw;
    Object.freeze(this);
  }

  get agentId(): string {
    return this.#known.agent_id;
  }
  get parentAgentId(): string | undefined {
    return this.#known.parent_agent_id ?? undefined;
  }
  get status(): ExecutionStatus {
    return this.#known.status;
  }
  /** Which execution of the session this is, from 1 on. */
  get executionNumber(): number {
    return this.#known.execution.number;
  }
  /** All steps of the execution, also those that are not shown. */
  get stepCount(): number {
    return this.#known.execution.step_count;
  }
  /** Milliseconds since the epoch. */
  get startedAt(): number {
    return Date.parse(this.#known.execution.started_at);
  }
  /** Milliseconds since the epoch. */
  get updatedAt(): number {
    return Date.parse(this.#known.execution.updated_at);
  }
  get cumulativeSeconds(): number {
    return this.#known.execution.cumulative_seconds;
  }
  get usage(): SlimUsage {
    return this.#known.usage;
  }
  get messages(): readonly SlimMessage[] {
    return this.#known.messages;
  }
  get currentStep(): SlimStep | undefined {
    return this.#known.current_step ?? undefined;
  }
  get steps(): readonly SlimStep[] {
    return this.#known.steps;
  }
  get waitingFor(): readonly SlimWait[] {
    return this.#known.waiting_for;
  }
  get lastContinuation(): SlimContinuation | undefined {
    return this.#known.last_continuation ?? undefined;
  }
  /** Undefined where it was left out. */
  get metadata(): JsonObject | undefined {
    return this.#known.metadata ?? undefined;
  }
  /** How much there was that is not shown. */
  get omitted(): SlimOmitted {
    return this.#known.omitted;
  }

  /** Always refuses: a payload lacks what a run needs. The error says what to store instead. */
  toState(): never {
    throw new SlimNotResumableError(this.agentId);
  }

  toJSON(): JsonObject {
    return this.payload;
  }
}
