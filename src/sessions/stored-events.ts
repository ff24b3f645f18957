// Events as they are stored with their step.
// V1. What all events of a commit have in common stands once.
// V2. An outcome that the step's record holds already is not written again; it is found there when the event is read.
import type { BaseEvent } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
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

/** What the events of one commit usually have in common. */
const sharedKeys = ['agentId', 'parentAgentId', 'executionId', 'stepNumber', 'orchestrator', 'participant'] as const;

type Fields = Readonly<Record<string, unknown>>;

function sharedBy(events: readonly Fields[]): Fields {
  const [first = {}] = events;
  const shared: Record<string, unknown> = {};
  for (const key of sharedKeys)
    if (first[key] !== undefined && events.every((event) => event[key] === first[key])) shared[key] = first[key];
  return shared;
}

function ownOf(event: Fields, shared: Fields, result: StepResult | undefined): Fields {
  // Taken apart at once: this runs for every event of every step.
  const { agentId, parentAgentId, executionId, stepNumber, orchestrator, participant, id, ...own } = event;
  const special = { agentId, parentAgentId, executionId, stepNumber, orchestrator, participant };
  const differing = sharedKeys.filter((key) => special[key] !== undefined && !Object.hasOwn(shared, key));
  const hasOwnId = id !== `${String(executionId)}/${String(event['seq'])}`;
  return {
    ...own,
    ...(hasOwnId && { id }),
    ...(differing.length > 0 && Object.fromEntries(differing.map((key) => [key, special[key]]))),
    ...(own['outcome'] !== undefined && own['outcome'] === result?.outcome && { outcome: inStep }),
  };
}

/** Writes the events of one commit. */
export function writeEvents(events: readonly BaseEvent[], result: StepResult | undefined): string {
  // Holds: events are plain data.
  const all = events as readonly unknown[] as readonly Fields[];
  const shared = sharedBy(all);
  return JSON.stringify([shared, ...all.map((event) => ownOf(event, shared, result))]);
}

/** Puts the outcome of its step into an event that refers to it. */
function withOutcome(fields: StoredEvent, state: RunState): StoredEvent {
  const execution = state.session.executions.find(({ id }) => id === fields.executionId);
  const outcome = execution?.results.at(fields.stepNumber - 1)?.outcome.toJSON();
  if (outcome !== undefined) return { ...fields, outcome };
  // The state that is at hand does not know the step: another runtime has recorded it.
  const { outcome: _, ...rest } = fields;
  return rest;
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
