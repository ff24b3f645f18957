// Fields of events, of which nothing is known but what is checked.
import type { Json } from '../../lib/index.ts';

/** An event of a run, a stored one, or one of the open step. */
export type EventFields = Readonly<Record<string, unknown>>;

/** Returns a name or an id; empty if there is none. */
export function getName(event: EventFields, key: string): string {
  const value = event[key];
  return typeof value === 'string' ? value : '';
}

/** Returns a value as JSON: null if there is none. */
export function getJson(event: EventFields, key: string): Json {
  // Holds: arguments, results and progress are JSON.
  return (event[key] ?? null) as Json;
}

/** True for an event of the session's own agent. */
export const isRoot = (event: EventFields): boolean => (event['parentAgentId'] ?? null) === null;

/** True for an event of somebody whose words are shown: the agent itself, or a participant of a chat. */
export const isShown = (event: EventFields): boolean => isRoot(event) || typeof event['participant'] === 'string';

/** Names the step of an event. */
export const getStepKey = (event: EventFields): string => `${getName(event, 'executionId')}/${Number(event['stepNumber'] ?? 0)}`;
