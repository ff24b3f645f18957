import type { Redactor } from '../../lib/index.ts';
import { defaultRedactor, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { AgentState } from '../agent-state.ts';
import { messageWindow } from './message-window.ts';
import { readSlimPayload } from './read-slim-payload.ts';
import { SlimAgentState } from './slim-agent-state.ts';
import { SlimInk } from './slim-ink.ts';
import type { SlimMessage, SlimPayload } from './slim-payload.ts';
import { slimKind, slimSchema } from './slim-payload.ts';
import type { SlimSerializationOptions } from './slim-serialization-config.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';
import { writeMessage } from './write-message.ts';
import { toIso, writeContinuation, writeCurrentStep, writeSteps, writeUsage, writeWait } from './write-step.ts';

export interface SlimSerializerOptions {
  /** Takes secrets out of everything that is shown. @default the redactor that knows the obvious ones */
  readonly redactor?: Redactor;
}

function checkedRedactor({ redactor = defaultRedactor }: SlimSerializerOptions): Redactor {
  const given: unknown = redactor;
  if (isRecord(given) && typeof given['text'] === 'function' && typeof given['value'] === 'function') return redactor;
  throw new InvalidArgumentError('The redactor of a slim serializer needs text() and value(); make one with createRedactor().');
}

function writeMessages(
  { messages, execution }: AgentState,
  ink: SlimInk,
): { readonly shown: readonly SlimMessage[]; readonly dropped: number } {
  const { queued = [] } = execution;
  // Not concat: that would write behind the end of the state's own list, and its next message would copy it all.
  const all = {
    length: messages.length + queued.length,
    at: (index: number) => (index < messages.length ? messages.at(index) : queued[index - messages.length]),
  };
  const window = messageWindow(all, ink.config.maxMessages);
  const waiting = new Set(queued.map(({ id }) => id));
  const shown = window.messages.map((message) => ({ ...writeMessage(message, ink), ...(waiting.has(message.id) && { queued: true }) }));
  return { shown, dropped: window.dropped };
}

/** Writes what a screen shows of a state, small and without secrets, and reads it for display. Not for pause and resume. */
export class SlimAgentStateSerializer {
  readonly config: SlimSerializationConfig;
  readonly #ink: SlimInk;

  constructor(config: SlimSerializationOptions = SlimSerializationConfig.standard(), options: SlimSerializerOptions = {}) {
    this.config = config instanceof SlimSerializationConfig ? config : new SlimSerializationConfig(config);
    this.#ink = new SlimInk(this.config, checkedRedactor(options));
  }

  serialize(state: AgentState): SlimPayload {
    if (!(state instanceof AgentState))
      throw new InvalidArgumentError('serialize() takes an AgentState. Read stored data with agent.restore() first.');
    const ink = this.#ink;
    const { info, continuationOutcome: outcome } = state;
    const { shown: messages, dropped } = writeMessages(state, ink);
    const steps = writeSteps(state, ink);
    const noted = this.config.includeMetadata ? ink.fields(state.metadata) : undefined;
    return {
      kind: slimKind,
      schema: slimSchema,
      agent_id: ink.name(state.agentId),
      parent_agent_id: state.parentAgentId === undefined ? null : ink.name(state.parentAgentId),
      status: state.status,
      execution: {
        number: state.execution.number,
        step_count: state.stepCount,
        started_at: toIso(info.startedAt),
        updated_at: toIso(info.updatedAt),
        cumulative_seconds: info.cumulativeExecutionSeconds,
      },
      usage: writeUsage(state.usage),
      messages,
      current_step: writeCurrentStep(state, ink),
      steps,
      waiting_for: state.waitingFor.map((wait) => writeWait(wait, ink)),
      last_continuation: outcome === undefined ? null : writeContinuation(outcome, ink),
      metadata: noted === undefined ? null : noted.fields,
      omitted: {
        messages: dropped,
        steps: state.stepCount - steps.length,
        metadata: noted?.dropped ?? Object.keys(state.metadata).length,
      },
      resumable: false,
    };
  }

  /** Reads a payload of any config, for display. Refuses what is something else, newer, or damaged. */
  deserialize(payload: unknown): SlimAgentState {
    return new SlimAgentState(readSlimPayload(payload));
  }
}
