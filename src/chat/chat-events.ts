import type { EventHeader } from '../events/index.ts';
import { defaultRedactor } from '../lib/index.ts';
import { OrchestratorEvent } from '../step-by-step/index.ts';
import type { ToolEvent } from '../tool-use/index.ts';
import type { Selection } from './chat-step.ts';

/** Somebody has the turn; `participant` says who. */
export class ParticipantSelected extends OrchestratorEvent {
  readonly type = 'ParticipantSelected';
  declare readonly participant: string;
  /** The selector; `retry` where a turn is tried again. */
  readonly selectedBy: string;
  declare readonly reason?: string;
  /** What was wrong with the first choice, where another rule had to decide. */
  declare readonly problem?: string;
  /** True where a turn that had to wait is taken up again. */
  declare readonly resumed?: true;

  // eslint-disable-next-line @typescript-eslint/max-params -- the selection is kept as it is, and this is all there is beside it
  constructor(
    header: EventHeader,
    orchestrator: string,
    { by, reason, problem }: Selection,
    { resumed = false }: { readonly resumed?: boolean } = {},
  ) {
    super(header, orchestrator);
    this.selectedBy = by;
    if (reason !== undefined) this.reason = reason;
    if (problem !== undefined) this.problem = problem;
    if (resumed) this.resumed = true;
  }

  describe(): string {
    if (this.resumed === true) return 'goes on with its turn';
    const reason = this.reason === undefined ? '' : `: ${defaultRedactor.text(this.reason)}`;
    const problem = this.problem === undefined ? '' : `; ${defaultRedactor.text(this.problem)}`;
    return `has the turn by ${this.selectedBy}${reason}${problem}`;
  }
}

/** What a person is asked. */
export interface AskedFacts {
  readonly waitId: string;
  readonly prompt?: string | undefined;
  readonly problem?: string | undefined;
}

/** The words of a person are wanted, and the run waits for them; `participant` says of whom. */
export class PersonAsked extends OrchestratorEvent {
  readonly type = 'PersonAsked';
  declare readonly participant: string;
  /** The id for `answer` on the state at the top. */
  readonly waitId: string;
  declare readonly prompt?: string;
  /** What was wrong with the last answer, where it could not be used. */
  declare readonly problem?: string;

  constructor(header: EventHeader, orchestrator: string, { waitId, prompt, problem }: AskedFacts) {
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
