// Events as they are stored with their step.
// V1. Fields that all events of a commit have in common are stored once.
// V2. An outcome that the step's record holds already is not written again; it is found there when the event is read.
import type { BaseEvent } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { DamagedDataError, latestTime, readArray, readJsonObject } from '../lib/index.ts';
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

/** Fields that the events of one commit usually have in common. */
const sharedKeys = ['agentId', 'parentAgentId', 'executionId', 'stepNumber', 'orchestrator', 'participant'] as const;

type Fields = Readonly<Record<string, unknown>>;

function getShared(events: readonly Fields[]): Fields {
  const [first = {}] = events;
  const shared: Record<string, unknown> = {};
  for (const key of sharedKeys)
    if (first[key] !== undefined && events.every((event) => event[key] === first[key])) shared[key] = first[key];
  return shared;
}

/** Writes the events of one commit. */
export function writeEvents(events: readonly BaseEvent[], result: StepResult | undefined): string {
  const all: readonly Fields[] = events.map((event) => ({ ...event }));
  const shared = getShared(all);
  // JSON leaves out what is undefined.
  const hidden = Object.fromEntries(Object.keys(shared).map((key) => [key, undefined]));
  const own = all.map(({ id, outcome, ...event }) => ({
    ...event,
    ...hidden,
    id: id === `${String(event['executionId'])}/${String(event['seq'])}` ? undefined : id,
    outcome: outcome !== undefined && outcome === result?.outcome ? inStep : outcome,
  }));
  return JSON.stringify([shared, ...own]);
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

const isEvent = (fields: JsonObject): fields is StoredEvent =>
  ['type', 'id', 'agentId', 'executionId'].every((key) => typeof fields[key] === 'string') &&
  ['seq', 'at', 'stepNumber'].every((key) => typeof fields[key] === 'number') &&
  Math.abs(Number(fields['at'])) <= latestTime;

/** Reads the events of one commit; `stateOf` returns the session's state if an event refers to it. */
export async function readEvents(text: string, stateOf: () => Promise<RunState>): Promise<readonly StoredEvent[]> {
  const [shared, ...own] = readArray(JSON.parse(text), 'events', readJsonObject);
  const events: StoredEvent[] = [];
  for (const [index, fields] of own.entries()) {
    const whole: JsonObject = { ...shared, ...fields };
    const { executionId, seq } = whole;
    const id = typeof executionId === 'string' && typeof seq === 'number' ? `${executionId}/${seq}` : '';
    const event: JsonObject = { id, ...whole };
    if (!isEvent(event)) throw new DamagedDataError(`events[${index + 1}]`, 'expected an event');
    events.push(event['outcome'] === inStep ? withOutcome(event, await stateOf()) : event);
  }
  return events;
}
