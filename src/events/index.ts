export type { EventHeader } from './base-event.ts';
export { BaseEvent } from './base-event.ts';
export type { EventBus, EventOfType, Unsubscribe } from './event-bus.ts';
export { createEventBus, reportSafely, notifyListener } from './event-bus.ts';
export type { EventSink, ProblemReporter } from './event-sink.ts';
export { reportToConsole } from './event-sink.ts';
