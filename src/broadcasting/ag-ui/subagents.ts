// The sub-agents of a run.
// A1. An invocation is announced before anything of it is sent, and closed before the run is finished.
// A2. One that waits, or that is run again after a crash, stays open until the run is finished: it may go on in the same run.
import type { Redactor } from '../../lib/index.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { EventFields } from './event-fields.ts';

type Events = Generator<AgUiEvent, void, undefined>;

export class Subagents {
  /** Ids of invocations that are announced and not closed, by the id of their agent. */
  readonly #open = new Map<string, string>();
  /** Number of times that an agent was announced. */
  readonly #starts = new Map<string, number>();
  /** Calls in progress, by the id of the agent that made them. */
  readonly #calls = new Map<string, Set<string>>();

  /** Returns the field that attributes an event to its sub-agent; empty if it is of the agent at the top. */
  getTag(fields: EventFields): { readonly subagentRunId?: string } {
    const id = fields.parent === undefined ? undefined : this.#open.get(fields.text('agentId'));
    return id === undefined ? {} : { subagentRunId: id };
  }

  *start(fields: EventFields): Events {
    const { parent } = fields;
    const agentId = fields.text('agentId');
    if (parent === undefined || this.#open.has(agentId)) return;
    const starts = (this.#starts.get(agentId) ?? 0) + 1;
    this.#starts.set(agentId, starts);
    const subagentRunId = starts === 1 ? agentId : `${agentId}#${starts}`;
    const parentSubagentRunId = this.#open.get(parent);
    this.#open.set(agentId, subagentRunId);
    const calls = this.#calls.get(parent) ?? new Set();
    const [parentToolCallId] = calls;
    yield {
      type: 'SUBAGENT_STARTED',
      subagentRunId,
      name: fields.optionalText('agentName') ?? agentId,
      ...(parentSubagentRunId !== undefined && { parentSubagentRunId }),
      // With several calls in progress, nobody says which one it is.
      ...(calls.size === 1 && parentToolCallId !== undefined && { parentToolCallId }),
    };
  }

  *end(fields: EventFields, redactor: Redactor): Events {
    const subagentRunId = this.#open.get(fields.text('agentId'));
    if (subagentRunId === undefined || fields.text('status') === 'waiting') return;
    this.#open.delete(fields.text('agentId'));
    const [failure] = fields.list('errors');
    if (fields.text('status') === 'failed') {
      const message = redactor.text(failure?.optionalText('message') ?? fields.optionalText('reason') ?? 'The sub-agent failed.');
      const code = failure?.optionalText('code') ?? fields.optionalText('stopReason');
      yield { type: 'SUBAGENT_ERROR', subagentRunId, message, ...(code !== undefined && { code }) };
    } else yield { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'success' } };
  }

  /** Closes what is still open: innermost first. */
  *endAll(): Events {
    for (const [agentId, subagentRunId] of [...this.#open].toReversed()) {
      this.#open.delete(agentId);
      yield { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended' } };
    }
  }

  noteCall(fields: EventFields): void {
    const calls = this.#calls.get(fields.text('agentId')) ?? new Set();
    this.#calls.set(fields.text('agentId'), calls.add(fields.callId));
  }

  forgetCall(fields: EventFields): void {
    this.#calls.get(fields.text('agentId'))?.delete(fields.callId);
  }
}
