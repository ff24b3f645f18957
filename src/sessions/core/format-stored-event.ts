import type { EventLineOptions } from '../../events/index.ts';
import { formatEvent } from '../../events/index.ts';
import type { StoredEvent } from './stored-events.ts';

/** Writes a stored event as one line, the same that `String(event)` gave when it was emitted. Removes obvious secrets. */
export const formatStoredEvent = (event: StoredEvent, options: EventLineOptions = {}): string => formatEvent(event, options);
