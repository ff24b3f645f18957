// Envelopes: what programs outside receive of a session or a run. `envelope.schema.json` says the same as JSON Schema.
import type { JsonObject } from '../lib/index.ts';

/** An event for programs outside: one of several parts, if the event has more to say than one envelope holds. */
export interface EventEnvelope {
  /** Name, such as `agent.step.completed`. */
  readonly event: string;
  /** Time of the event: ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly agent_id: string;
  /** Absent if no other agent started this one. */
  readonly parent_agent_id?: string;
  /** Id of the session; of a run without one, the id of its state. */
  readonly session_id: string;
  readonly execution_id: string;
  /** Kind of orchestrator that emitted the event: `agent`, `chat`, …; `session` for what people did to a session. */
  readonly orchestrator: string;
  /** Participant whose turn it is, if several take turns. */
  readonly participant?: string;
  /** Number of the event in its session. Absent while it is provisional, and on pieces: chunks of text and progress of tools. */
  readonly seq?: number;
  /** Counts the envelopes of one event, from 1. */
  readonly part: number;
  /** Number of envelopes of the event, so that the loss of the last one is noticed. Absent if there is only one. */
  readonly parts?: number;
  /**
   * Number of the last earlier event of the session that gives an envelope under this preset; 0 if there is none. Present beside `seq`
   * unless the sender began in the middle and cannot know. An envelope is missing if this is higher than the highest `seq` you have.
   */
  readonly prev_seq?: number;
  /** Attempt at the open step, from 1. Present on provisional envelopes, and on those that confirm them. */
  readonly attempt?: number;
  /** Place of the event among those of its attempt, from 1. Present on provisional envelopes, and on those that confirm them. */
  readonly index?: number;
  /** Present if the event is not stored yet: an envelope with the same attempt and index confirms it, `agent.stream.void` takes it back. */
  readonly provisional?: true;
  readonly data: JsonObject;
}

/** The newest number that was sent, so that the loss of the last envelope is noticed. */
export interface HeadEnvelope {
  readonly event: 'agent.head';
  readonly timestamp: string;
  readonly session_id: string;
  /** Absent if the sender has not seen an event of the session yet. */
  readonly agent_id?: string;
  readonly part: 1;
  readonly data: {
    readonly seq: number;
    /** Totals of the session, for a reader that begins in the middle. */
    readonly totals?: JsonObject;
    /** Present if the reader asked for events after one that the session does not have: drop all that was received, and start again. */
    readonly restart?: true;
  };
}

export type Envelope = EventEnvelope | HeadEnvelope;

/** Name and data of an envelope, before it gets the ids of its event. */
export interface EnvelopePart {
  readonly event: string;
  readonly data: JsonObject;
}

/** Place of a payload that was cut because its envelope was over the byte budget. */
export interface PayloadRef {
  readonly session_id: string;
  /** Absent on a provisional envelope: the payload can be fetched once the event is stored. */
  readonly seq?: number;
  readonly part: number;
  /** JSON pointer into the whole envelope. */
  readonly path: '/data';
}
