import type { EventHeader } from '../events/index.ts';
import { describeEvent } from '../events/index.ts';
import { OrchestratorEvent } from '../step-by-step/index.ts';
import type { ToolEvent } from '../tool-use/index.ts';
import type { Selection } from './chat-step.ts';

/** A participant was selected for the turn; `participant` names it. */
export class ParticipantSelected extends OrchestratorEvent {
  readonly type = 'ParticipantSelected';
  declare readonly participant: string;
  /** Name of the selector; `retry` if a turn is retried. */
  readonly selectedBy: string;
  declare readonly reason?: string;
  /** Problem with the first choice, if another rule had to decide. */
  declare readonly problem?: string;
  /** True if a turn that had to wait is resumed. */
  declare readonly resumed?: true;

  constructor(header: EventHeader, orchestrator: string, { by, reason, problem, resumed }: Selection & { readonly resumed?: true }) {
    super(header, orchestrator);
    this.selectedBy = by;
    if (reason !== undefined) this.reason = reason;
    if (problem !== undefined) this.problem = problem;
    if (resumed === true) this.resumed = true;
  }

  override describe(): string {
    return describeEvent(this);
  }
}

/** The run waits for a person's message; `participant` names the person. */
export class PersonAsked extends OrchestratorEvent {
  readonly type = 'PersonAsked';
  declare readonly participant: string;
  /** The id for `answer` on the state at the top. */
  readonly waitId: string;
  declare readonly prompt?: string;
  /** Problem with the last answer, if it could not be used. */
  declare readonly problem?: string;

  constructor(header: EventHeader, orchestrator: string, { waitId, prompt, problem }: Pick<PersonAsked, 'waitId' | 'prompt' | 'problem'>) {
    super(header, orchestrator);
    this.waitId = waitId;
    if (prompt !== undefined) this.prompt = prompt;
    if (problem !== undefined) this.problem = problem;
  }

  override describe(): string {
    return describeEvent(this);
  }
}

/** Every event of a conversation between participants, including those of the runs inside turns. */
export type ChatEvent = ToolEvent | ParticipantSelected | PersonAsked;
