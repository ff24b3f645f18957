import { defaultRedactor } from '../lib/index.ts';
import { describeWith, formatLine } from './words/event-line.ts';
import { runWords } from './words/run-words.ts';

/** Fields of every event. */
export interface EventHeader {
  /** Unique, and the same if a step is resumed after a crash. */
  readonly id: string;
  /** Dense per root session; a delta carries the seq of the event before it. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly agentId: string;
  /** Name of the configured agent; a sub-agent's is the one that its outer agent calls it by. */
  readonly agentName?: string | undefined;
  /** Null or absent if no other agent started this one. */
  readonly parentAgentId?: string | null | undefined;
  /** Id of the session; of a run without one, the id of the state that it started from. */
  readonly sessionId?: string | undefined;
  readonly executionId: string;
  /** 0 before the first step. */
  readonly stepNumber: number;
  /** Participant whose turn it is, if several take turns. */
  readonly participant?: string | undefined;
}

/** Base of all events: plain data to store and send, and a line of text for people. */
export abstract class BaseEvent implements EventHeader {
  abstract readonly type: string;
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly agentId: string;
  declare readonly agentName?: string;
  /** Null if no other agent started this one. */
  readonly parentAgentId: string | null;
  declare readonly sessionId?: string;
  readonly executionId: string;
  readonly stepNumber: number;
  declare readonly participant?: string;

  constructor(header: EventHeader) {
    this.id = header.id;
    this.seq = header.seq;
    this.at = header.at;
    this.agentId = header.agentId;
    if (header.agentName !== undefined) this.agentName = header.agentName;
    this.parentAgentId = header.parentAgentId ?? null;
    if (header.sessionId !== undefined) this.sessionId = header.sessionId;
    this.executionId = header.executionId;
    this.stepNumber = header.stepNumber;
    if (header.participant !== undefined) this.participant = header.participant;
  }

  /** Describes the event in a few words, without its header. Events that runs do not emit by themselves bring their own words. */
  describe(): string {
    return describeWith(runWords, this, defaultRedactor);
  }

  /** Merges a later event of the same kind into this one if nothing is lost, as with pieces of text. */
  merge?(next: BaseEvent): BaseEvent | undefined;

  /** One line: agent, step and description, without secrets and control characters. */
  toString(): string {
    return formatLine(this, this.describe());
  }
}
