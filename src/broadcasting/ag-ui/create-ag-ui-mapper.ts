// Events of a run without a session, as a run of AG-UI.
import type { Redactor } from '../../lib/index.ts';
import { defaultRedactor } from '../../lib/index.ts';
import type { SessionWait } from '../../sessions/index.ts';
import type { AnyEvent } from '../index.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { protocolVersion } from './ag-ui-event.ts';
import { EventFields } from './event-fields.ts';
import { toInterrupt } from './interrupts.ts';
import type { RunEnd } from './run-end.ts';
import { toEndEvents } from './run-end.ts';
import { RunEvents } from './run-events.ts';

export interface AgUiMapperOptions {
  readonly threadId: string;
  readonly runId: string;
  /** Removes secrets from arguments, results and texts. @default a redactor that knows the obvious ones */
  readonly redactor?: Redactor;
}

/** Turns the events of one run into those of AG-UI. */
export interface AgUiMapper {
  /** Returns the events of AG-UI for an event, in order. The first has RUN_STARTED before it; the last ends the run. */
  toEvents(event: AnyEvent): readonly AgUiEvent[];
}

function toEnd(fields: EventFields, events: RunEvents): RunEnd {
  const [failure] = fields.list('errors');
  // Holds: the event lists what is waited for, without arguments.
  const waits = (fields.json('waitingFor') ?? []) as unknown as readonly SessionWait[];
  const isPageOnly = waits.every(({ type }) => type === 'client-tool');
  const toShown = (wait: SessionWait) => ({
    wait: { ...wait, sessionId: '', digest: '' },
    stepCount: 0,
    hiddenFields: [],
    call: events.findAsked(wait.id),
  });
  return {
    status: fields.text('status'),
    stopReason: fields.optionalText('stopReason'),
    resolvedBy: fields.optionalText('resolvedBy'),
    reason: fields.optionalText('reason'),
    stepCount: fields.number('stepCount'),
    failure: { code: failure?.optionalText('code'), message: failure?.optionalText('message') },
    interrupts: isPageOnly ? [] : waits.map((wait) => toInterrupt(toShown(wait))),
    pendingToolCallIds: isPageOnly ? waits.flatMap(({ id }) => events.findAsked(id)?.callId ?? []) : [],
  };
}

/** Creates a mapper for one run: of an agent, a chat, or stored events. The same events give the same result. */
export function createAgUiMapper({ threadId, runId, redactor = defaultRedactor }: AgUiMapperOptions): AgUiMapper {
  const events = new RunEvents({ redactor });
  let isStarted = false;
  return {
    toEvents: (event) => {
      const start: readonly AgUiEvent[] = isStarted ? [] : [{ type: 'RUN_STARTED', threadId, runId, protocolVersion }];
      isStarted = true;
      const sent = events.add(event);
      const fields = new EventFields(event);
      if (fields.text('type') !== 'AgentFinished' || fields.parent !== undefined) return [...start, ...sent];
      const end = { threadId, runId, usage: events.usage.toUsage(), redactor };
      return [...start, ...sent, ...events.close(), ...toEndEvents(toEnd(fields, events), end)];
    },
  };
}
