// Events as they are stored with their step.
// V1. What all events of a commit have in common stands once.
// V2. An outcome that the step's record holds already is not written again; it is found there when the event is read.
import type { BaseEvent } from '../events/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import { DamagedDataError, isRecord, readArray } from '../lib/index.ts';
import type { RunState, StepResult } from '../step-by-step/index.ts';

/** An event as it is read from a store: plain data with the fields of the event. */
export interface StoredEvent extends JsonObject {
  readonly type: string;
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly agentId: string;
  readonly executionId: string;
  readonly stepNumber: number;
}

/** Stands for the outcome that the step's record holds. */
const inStep = 'step';

type Fields = Readonly<Record<string, Json>>;

function fieldsOf(event: BaseEvent, result: StepResult | undefined): Fields {
  const { outcome } = event as { readonly outcome?: unknown };
  const plain = outcome !== undefined && outcome === result?.outcome ? { ...event, outcome: inStep } : event;
  // Holds: events are plain data.
  const fields = JSON.parse(JSON.stringify(plain)) as Record<string, Json>;
  if (fields['id'] === `${event.executionId}/${event.seq}`) delete fields['id'];
  return fields;
}

/** The fields that all of them have, with the same value. */
function sharedBy(all: readonly Fields[]): Fields {
  const [first = {}, ...others] = all;
  const isShared = ([key, value]: readonly [string, Json]): boolean =>
    typeof value !== 'object' && others.every((fields) => fields[key] === value);
  return Object.fromEntries(Object.entries(first).filter(isShared));
}

/** Writes the events of one commit. */
export function writeEvents(events: readonly BaseEvent[], result: StepResult | undefined): string {
  const all = events.map((event) => fieldsOf(event, result));
  const shared = sharedBy(all);
  const own = all.map((fields) => Object.fromEntries(Object.entries(fields).filter(([key]) => !Object.hasOwn(shared, key))));
  return JSON.stringify([shared, ...own]);
}

/** Puts the outcome of its step into an event that refers to it. */
function withOutcome(fields: StoredEvent, state: RunState): StoredEvent {
  const execution = state.session.executions.find(({ id }) => id === fields.executionId);
  const outcome = execution?.results.at(fields.stepNumber - 1)?.outcome.toJSON();
  return outcome === undefined ? fields : { ...fields, outcome };
}

/** Reads the events of one commit; `stateOf` gives the session's state where an event refers to it. */
export async function readEvents(text: string, stateOf: () => Promise<RunState>): Promise<readonly StoredEvent[]> {
  const [shared, ...own] = readArray(JSON.parse(text), 'events', (item, path) => {
    if (isRecord(item)) return item as JsonObject;
    throw new DamagedDataError(path, 'expected an event');
  });
  const events: StoredEvent[] = [];
  for (const fields of own) {
    // Holds: this is what an event was written as.
    const whole = { ...shared, ...fields } as StoredEvent;
    const event: StoredEvent = Object.hasOwn(whole, 'id') ? whole : { ...whole, id: `${whole.executionId}/${whole.seq}` };
    events.push(event['outcome'] === inStep ? withOutcome(event, await stateOf()) : event);
  }
  return events;
}
