import { readField } from '../../lib/index.ts';
import type { BaseEvent } from '../base-event.ts';

/** Types of events whose lines repeat what other lines say, or are pieces of something larger. */
const details = new Set(['AgentStateUpdated', 'TokenUsageReported', 'TextDelta', 'ReasoningDelta', 'ToolCallProgress']);

/** True for an event whose line says nothing that the lines around it do not say: a log for people leaves it out. */
export function isDetailEvent(event: object): boolean {
  const type = readField(event, 'type');
  // That a step started is news only if a process ended in it: the next line says what the step does.
  if (type === 'AgentStepStarted') return readField(event, 'resumed') !== true;
  return typeof type === 'string' && details.has(type);
}

/** Options of a log of events. */
export interface LogEventsOptions {
  /** Prints every event, also those that repeat what others say. @default false */
  readonly details?: boolean;
}

/** Creates a listener that prints events, a line each: `agent.wiretap(logEvents(console.log))`. */
export function logEvents(print: (line: string) => unknown, options: LogEventsOptions = {}): (event: BaseEvent) => void {
  const { details: all = false } = options;
  return (event) => {
    if (all || !isDetailEvent(event)) print(String(event));
  };
}
