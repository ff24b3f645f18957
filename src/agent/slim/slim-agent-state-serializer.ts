import type { JsonObject, Redactor } from '../../lib/index.ts';
import { defaultRedactor, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { AgentState } from '../agent-state.ts';
import type { CanSerializeAgentState } from './can-serialize-agent-state.ts';
import { readLossyPayload } from './read-lossy-payload.ts';
import type { SlimPayload } from './slim-payload.ts';
import { readSlimPayload } from './slim-payload.ts';
import type { SlimSerializationOptions } from './slim-serialization-config.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';
import { SlimWriter } from './slim-writer.ts';
import { readWholePayload, writeWholePayload } from './whole-payload.ts';
import { writeLossyPayload } from './write-lossy-payload.ts';

export interface SlimSerializerOptions {
  /** Removes secrets from everything that is written. @default a redactor that knows the obvious ones */
  readonly redactor?: Redactor;
}

function parseRedactor({ redactor = defaultRedactor }: SlimSerializerOptions): Redactor {
  const value: unknown = redactor;
  if (isRecord(value) && typeof value['text'] === 'function' && typeof value['value'] === 'function') return redactor;
  throw new InvalidArgumentError('The redactor of a SlimAgentStateSerializer must have text() and value(). Use createRedactor().');
}

/** The stored form of a state, or undefined if it holds secrets or something that JSON cannot hold. */
function getCleanData(state: AgentState, writer: SlimWriter): JsonObject | undefined {
  const { data } = AgentState.codec.encode(state);
  const clean = writer.clean(data);
  return isRecord(clean) && (clean === data || JSON.stringify(clean) === JSON.stringify(data)) ? clean : undefined;
}

/**
 * Writes a state in short and without secrets, and reads it again. The payload says in `resumable` whether everything is in it: `true` if
 * the config leaves nothing out and there was no secret to remove, else `'lossy'`.
 */
export class SlimAgentStateSerializer implements CanSerializeAgentState<SlimPayload> {
  readonly config: SlimSerializationConfig;
  readonly #redactor: Redactor;

  constructor(config: SlimSerializationOptions = SlimSerializationConfig.standard(), options: SlimSerializerOptions = {}) {
    this.config = config instanceof SlimSerializationConfig ? config : new SlimSerializationConfig(config);
    this.#redactor = parseRedactor(options);
  }

  serialize(state: AgentState): SlimPayload {
    if (!(state instanceof AgentState))
      throw new InvalidArgumentError('serialize() needs an AgentState. Use agent.restore() to read stored data first.');
    const writer = new SlimWriter(this.config, this.#redactor);
    const data = this.config.isUnlimited ? getCleanData(state, writer) : undefined;
    return data === undefined ? writeLossyPayload(state, writer) : writeWholePayload(state, data);
  }

  /**
   * Reads a payload of any config. The state of a whole payload is the one that was written. The state of a lossy payload continues with
   * what is in it: messages, usage, times, identity and metadata; `explain()` says what is missing. Throws for data that is of another
   * kind, damaged, or newer.
   */
  deserialize(payload: unknown): AgentState {
    const read = readSlimPayload(payload);
    return read.resumable === true ? readWholePayload(read) : readLossyPayload(read);
  }
}
