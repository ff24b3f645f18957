// The attempt at a step that a reader follows.
// Owns:     whether an attempt is over, which of its events were sent, and under which ids its text is sent.
// Does not: read or send anything.
// C1. Nothing of an attempt is sent after the events that record it, whichever of the two is read first.
// C2. A stored event that was sent before as provisional says so: it has the same attempt and index.
import { readField } from '../../../lib/index.ts';
import type { OpenStepItem, OpenStepPlace, StoredEvent } from '../../../sessions/index.ts';

type EventItem = Extract<OpenStepItem, { readonly type: 'event' }>;

/** Fields of an event that are known before and after it is stored. */
type CommonEvent = EventItem['event'] | StoredEvent;

/** Ids that chunks of text are sent under. */
export interface ChunkIds {
  readonly agentId: string;
  readonly executionId: string;
  readonly orchestrator: string;
}

/** The attempt and the index under which an event was sent before; empty if it was not. */
export interface Confirmation {
  readonly attempt?: number;
  readonly index?: number;
}

const toKey = (event: CommonEvent): string =>
  JSON.stringify([event.type, event.at, event.agentId, event.executionId, event.stepNumber, readField(event, 'toolCallId')]);

const isOwn = (event: CommonEvent): boolean => (event.parentAgentId ?? null) === null;

const readNumber = ({ executionId }: CommonEvent): number => Number(executionId.slice(executionId.lastIndexOf('/') + 1));

/** The steps of a session that have ended or wait, as far as they were sent. */
export class EndedSteps {
  #execution = 0;
  #step = 0;
  #parked: { readonly step: number; readonly at: number } | undefined;

  /** Notes a stored event. Returns true if it ends the open step. */
  note(event: StoredEvent): boolean {
    const isEnd = isOwn(event) && (event.type === 'AgentStepCompleted' || event.type === 'AgentFinished');
    if (!isEnd) return false;
    const execution = readNumber(event);
    if (execution > this.#execution) [this.#execution, this.#step, this.#parked] = [execution, 0, undefined];
    if (event.type === 'AgentStepCompleted') this.#step = Math.max(this.#step, event.stepNumber);
    // A step that waits is opened again under the same number.
    else this.#parked = { step: event.stepNumber, at: event.at };
    return true;
  }

  /** True if the first item of an attempt belongs to a step that has ended, or to the time before it waited. */
  has(item: OpenStepItem): boolean {
    const { execution, step } = item;
    if (execution < this.#execution || (execution === this.#execution && step <= this.#step)) return true;
    if (execution !== this.#execution || item.type !== 'event' || this.#parked?.step !== step) return false;
    const { at, resumed } = item.event;
    return at < this.#parked.at || (at === this.#parked.at && resumed !== true);
  }
}

/** An attempt that is read. */
export class OpenPlace {
  readonly place: OpenStepPlace;
  isOver: boolean;
  #ids: ChunkIds | undefined;
  /** Events that were sent, in order. */
  #sent: { readonly key: string; readonly index: number }[] = [];

  constructor(place: OpenStepPlace, isOver: boolean) {
    this.place = place;
    this.isOver = isOver;
  }

  isSame({ afterEntry, attempt }: OpenStepPlace): boolean {
    return afterEntry === this.place.afterEntry && attempt === this.place.attempt;
  }

  /** Notes an event that was sent as provisional. */
  note({ event, index }: EventItem): void {
    this.#sent.push({ key: toKey(event), index });
    if (!isOwn(event)) return;
    const { agentId, executionId, orchestrator } = event;
    this.#ids = { agentId, executionId, orchestrator: typeof orchestrator === 'string' ? orchestrator : 'agent' };
  }

  getIds(otherwise: ChunkIds): ChunkIds {
    return this.#ids ?? otherwise;
  }

  /** Returns the attempt and the index under which a stored event was sent before; empty if it was not. */
  confirm(event: StoredEvent): Confirmation {
    const key = toKey(event);
    const at = this.#sent.findIndex((each) => each.key === key);
    const [found] = at === -1 ? [] : this.#sent.splice(at, 1);
    return found === undefined ? {} : { attempt: this.place.attempt, index: found.index };
  }
}
