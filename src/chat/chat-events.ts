import type { EventHeader } from '../events/index.ts';
import { defaultRedactor } from '../lib/index.ts';
import { OrchestratorEvent } from '../step-by-step/index.ts';
import type { ToolEvent } from '../tool-use/index.ts';
import type { Selection } from './chat-step.ts';

/** Somebody has the turn; `participant` says who. */
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

  describe(): string {
    if (this.resumed === true) return 'goes on with its turn';
    const reason = this.reason === undefined ? '' : `: ${defaultRedactor.text(this.reason)}`;
    const problem = this.problem === undefined ? '' : `; ${defaultRedactor.text(this.problem)}`;
    return `has the turn by ${this.selectedBy}${reason}${problem}`;
  }
}

/** The words of a person are wanted, and the run waits for them; `participant` says of whom. */
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

  describe(): string {
    return `is asked${this.prompt === undefined ? '' : `: ${defaultRedactor.text(this.prompt)}`}`;
  }
}

/** Every event of a conversation between participants; those of the runs inside turns among them. */
export type ChatEvent = ToolEvent | ParticipantSelected | PersonAsked;
