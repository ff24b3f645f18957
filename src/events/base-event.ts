/** Fields of every event. */
export interface EventHeader {
  /** Unique, and the same if a step is resumed after a crash. */
  readonly id: string;
  /** Dense per root session; a delta carries the seq of the event before it. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly agentId: string;
  readonly parentAgentId?: string;
  readonly executionId: string;
  /** 0 before the first step. */
  readonly stepNumber: number;
  /** Participant whose turn it is, if several take turns. */
  readonly participant?: string | undefined;
}

// UUIDv7 starts with the time: agents created in the same minute differ only at the end.
// The end of an id says more than its start: ids created at the same time, or nested in one another, start alike.
const shortId = (id: string): string => (id.length >= 36 ? id.slice(-8) : id.slice(0, 8));

/** Base of all events: plain data to store and send, and a line of text for people. */
export abstract class BaseEvent implements EventHeader {
  abstract readonly type: string;
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly agentId: string;
  declare readonly parentAgentId?: string;
  readonly executionId: string;
  readonly stepNumber: number;
  declare readonly participant?: string;

  constructor(header: EventHeader) {
    this.id = header.id;
    this.seq = header.seq;
    this.at = header.at;
    this.agentId = header.agentId;
    if (header.parentAgentId !== undefined) this.parentAgentId = header.parentAgentId;
    this.executionId = header.executionId;
    this.stepNumber = header.stepNumber;
    if (header.participant !== undefined) this.participant = header.participant;
  }

  /** Describes the event in a few words, without ids. */
  abstract describe(): string;

  /** Merges a later event of the same kind into this one if nothing is lost, as with pieces of text. */
  merge?(next: BaseEvent): BaseEvent | undefined;

  /** One line: agent, step and description. */
  toString(): string {
    const step = this.stepNumber === 0 ? '' : ` step ${this.stepNumber}`;
    const who = this.participant === undefined ? '' : ` (${this.participant})`;
    return `Agent [${shortId(this.agentId)}]${step}${who}: ${this.describe()}`;
  }
}
