import type { Redactor } from '../../lib/index.ts';
import { defaultRedactor, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import { AgentState } from '../agent-state.ts';
import { messageWindow } from './message-window.ts';
import { SlimAgentState } from './slim-agent-state.ts';
import { writeContinuation } from './slim-continuation.ts';
import type { SlimMessage } from './slim-message.ts';
import { writeMessage } from './slim-message.ts';
import type { SlimPayload } from './slim-payload.ts';
import { readSlimPayload, slimKind, slimSchema } from './slim-payload.ts';
import type { SlimSerializationOptions } from './slim-serialization-config.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';
import { SlimWriter } from './slim-writer.ts';
import { toIso, writeCurrentStep, writeSteps, writeUsage, writeWait } from './slim-step.ts';

export interface SlimSerializerOptions {
  /** Removes secrets from everything that is shown. @default a redactor that knows the obvious ones */
  readonly redactor?: Redactor;
}

function parseRedactor({ redactor = defaultRedactor }: SlimSerializerOptions): Redactor {
  const value: unknown = redactor;
  if (isRecord(value) && typeof value['text'] === 'function' && typeof value['value'] === 'function') return redactor;
  throw new InvalidArgumentError('The redactor of a slim serializer needs text() and value(); make one with createRedactor().');
}

function writeMessages(
  { messages, execution: { queued = [] } }: AgentState,
  writer: SlimWriter,
): readonly [readonly SlimMessage[], number] {
  // Not concat: that would write behind the end of the state's own list, and its next message would copy it all.
  const all = {
    length: messages.length + queued.length,
    at: (index: number) => (index < messages.length ? messages.at(index) : queued[index - messages.length]),
  };
  const window = messageWindow(all, writer.config.maxMessages);
  const queuedIds = new Set(queued.map(({ id }) => id));
  const write = (message: Message): SlimMessage => ({
    ...writeMessage(message, writer),
    ...(queuedIds.has(message.id) && { queued: true }),
  });
  return [window.messages.map(write), window.dropped];
}

/** Writes a state for display, small and without secrets, and reads it again. Not for pause and resume. */
export class SlimAgentStateSerializer {
  readonly config: SlimSerializationConfig;
  readonly #writer: SlimWriter;

  constructor(config: SlimSerializationOptions = SlimSerializationConfig.standard(), options: SlimSerializerOptions = {}) {
    this.config = config instanceof SlimSerializationConfig ? config : new SlimSerializationConfig(config);
    this.#writer = new SlimWriter(this.config, parseRedactor(options));
  }

  serialize(state: AgentState): SlimPayload {
    if (!(state instanceof AgentState))
      throw new InvalidArgumentError('serialize() takes an AgentState. Read stored data with agent.restore() first.');
    const writer = this.#writer;
    const { info, continuationOutcome: outcome } = state;
    const [messages, dropped] = writeMessages(state, writer);
    const steps = writeSteps(state, writer);
    const noted = this.config.includeMetadata ? writer.writeFields(state.metadata) : undefined;
    return {
      kind: slimKind,
      schema: slimSchema,
      agent_id: writer.writeName(state.agentId),
      parent_agent_id: state.parentAgentId === undefined ? null : writer.writeName(state.parentAgentId),
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
      current_step: writeCurrentStep(state, writer),
      steps,
      waiting_for: state.waitingFor.map((wait) => writeWait(wait, writer)),
      last_continuation: outcome === undefined ? null : writeContinuation(outcome, writer),
      metadata: noted === undefined ? null : noted.fields,
      omitted: {
        messages: dropped,
        steps: state.stepCount - steps.length,
        metadata: noted?.dropped ?? Object.keys(state.metadata).length,
      },
      resumable: false,
    };
  }

  /** Reads a payload of any config, for display. Throws if the data is of another kind, newer, or damaged. */
  deserialize(payload: unknown): SlimAgentState {
    return new SlimAgentState(readSlimPayload(payload));
  }
}
