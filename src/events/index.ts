export type { EventHeader } from './base-event.ts';
export { BaseEvent } from './base-event.ts';
export type { EventLineOptions } from './words/format-event.ts';
export { describeEvent, formatEvent } from './words/format-event.ts';
export { isDetailEvent, logEvents } from './words/log-events.ts';
export type { EventBus, EventOfType, Unsubscribe } from './event-bus.ts';
export { createEventBus, reportSafely, notifyListener } from './event-bus.ts';
export type { EventSink, ProblemReporter } from './event-sink.ts';
export { reportToConsole } from './event-sink.ts';
