// Whole payloads: everything that a state's own JSON holds, once.
// O1. `readWholePayload(writeWholePayload(state))` is the same state.
// O2. The documented fields hold what they can; `state` has the differences between the stored state and what follows from them. Whatever
//     a codec stores in a later version is among them.
// O3. A payload whose documented fields contradict its state is damaged.
import type { Json, JsonObject } from '../../lib/index.ts';
import { DamagedDataError, isList, isRecord, jsonEquals, present } from '../../lib/index.ts';
import { SectionName } from '../../messages/index.ts';
import { diffFields, withChanges } from '../../serialization/index.ts';
import { AgentState } from '../agent-state.ts';
import { restoreKeys, shortenKeys } from './short-keys.ts';
import type { ReadWholePayload, StoredMessage, WholeSlimPayload } from './slim-payload.ts';
import { slimSchema } from './slim-payload.ts';
import { toIso } from './slim-step.ts';
import { toStoredUsage, writeUsage } from './slim-usage.ts';
import { joinWaits, splitWaits } from './whole-waits.ts';

const toObject = (value: Json | undefined): JsonObject => (isRecord(value) ? value : {});
const toList = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);
const isConversation = (section: Json): section is JsonObject => isRecord(section) && section['name'] === SectionName.Messages;

/** Marks the place of the conversation among the sections: its messages are in the payload's own list. */
const conversation = 0;

/** Takes the messages of the conversation out of a stored state. What is left is compared with `deriveState`. */
function splitStored({ store, ...stored }: JsonObject): { readonly messages: readonly Json[]; readonly rest: JsonObject } {
  const { sections: all, ...others } = toObject(store);
  const messages = toList(toList(all).find(isConversation)?.['messages']);
  const sections = toList(all).map((section) => (isConversation(section) ? conversation : section));
  return { messages, rest: { ...stored, store: others, sections } };
}

/** Puts the messages of the conversation back into their section. */
function joinStored({ store, sections, ...rest }: JsonObject, messages: readonly Json[]): JsonObject {
  const all = toList(sections).map((section) => (section === conversation ? { name: SectionName.Messages, messages } : section));
  return { ...rest, store: { ...toObject(store), sections: all } };
}

/** The stored state that follows from the documented fields alone. */
function deriveState(payload: Omit<ReadWholePayload, 'state' | 'waiting_for'>): {
  readonly state: JsonObject;
  readonly execution: JsonObject;
} {
  const { id, number = 1, started_at, updated_at, cumulative_seconds } = payload.execution;
  return {
    state: present({
      info: {
        id: payload.session_id,
        startedAt: started_at,
        updatedAt: updated_at,
        cumulativeExecutionSeconds: cumulative_seconds,
      },
      agentId: payload.agent_id,
      parentAgentId: payload.parent_agent_id ?? undefined,
      store: {},
      sections: payload.messages.length === 0 ? [] : [conversation],
      metadata: payload.metadata,
      past: [],
      lastSeq: payload.last_seq ?? 0,
    }),
    execution: present({
      id,
      number,
      activeMs: 0,
      waitedMs: 0,
      usage: toStoredUsage(payload.usage),
      failedSteps: 0,
      results: [],
    }),
  };
}

/** The documented fields that show the state, and from which it is not read. */
function writeShown(state: AgentState): Pick<WholeSlimPayload, 'status' | 'current_step' | 'steps' | 'last_continuation'> {
  const { results, pendingStep } = state.execution;
  const steps = Array.from(results, ({ number, step }) => ({ step_number: number, type: step.stepType }));
  const outcome = state.lastContinuationOutcome;
  return {
    status: state.status,
    current_step:
      pendingStep === undefined ? (steps.at(-1) ?? null) : { step_number: pendingStep.number, type: pendingStep.partial.stepType },
    steps,
    last_continuation:
      outcome === undefined
        ? null
        : {
            should_continue: outcome.shouldContinue,
            stop_reason: outcome.stopReason ?? null,
            resolved_by: outcome.resolvedBy,
          },
  };
}

/** Writes a state, of which `stored` is the stored form. */
export function writeWholePayload(state: AgentState, stored: JsonObject): WholeSlimPayload {
  const { info, execution } = state;
  const { messages, rest } = splitStored(stored);
  const { execution: storedExecution, ...others } = rest;
  const waits = splitWaits(toObject(storedExecution), state);
  const shown = writeShown(state);
  const { total: _, ...usage } = writeUsage(state.usage);
  const payload = {
    schema: slimSchema,
    agent_id: state.agentId,
    parent_agent_id: state.parentAgentId ?? null,
    session_id: state.id,
    status: shown.status,
    execution: {
      ...(execution.id !== undefined && { id: execution.id }),
      ...(execution.number !== 1 && { number: execution.number }),
      step_count: execution.results.length,
      started_at: toIso(info.startedAt),
      updated_at: toIso(info.updatedAt),
      cumulative_seconds: info.cumulativeExecutionSeconds,
    },
    usage,
    // Holds: this is the stored form of messages.
    messages: messages as unknown as readonly StoredMessage[] & readonly JsonObject[],
    current_step: shown.current_step,
    steps: shown.steps,
    ...(waits.shown.length > 0 && { waiting_for: waits.shown }),
    last_continuation: shown.last_continuation,
    metadata: toObject(stored['metadata']),
    ...(state.data.lastSeq !== 0 && { last_seq: state.data.lastSeq }),
    resumable: true,
  } as const;
  const derived = deriveState(payload);
  const changed = diffFields(derived.execution, waits.execution);
  const changes = { ...diffFields(derived.state, others), ...(Object.keys(changed).length > 0 && { execution: changed }) };
  return { ...payload, ...(Object.keys(changes).length > 0 && { state: toObject(shortenKeys(changes)) }) };
}

// Errors of the state's own reader name places in the stored form.
function toPayloadPath(path: string, place: number): string {
  const messages = `data.store.sections[${String(place)}].messages`;
  return path.startsWith(messages) ? `messages${path.slice(messages.length)}` : path.replace(/^data\b/, 'state');
}

function decodeState(data: JsonObject): AgentState {
  try {
    return AgentState.codec.decode({ kind: AgentState.codec.kind, schema: AgentState.codec.version, data });
  } catch (error) {
    if (!(error instanceof DamagedDataError)) throw error;
    const place = toList(toObject(data['store'])['sections']).findIndex(isConversation);
    const problem = error.message.replace(/^Damaged data at .*?: /s, '').replace(/\.$/, '');
    throw new DamagedDataError(toPayloadPath(error.path, place), problem, error);
  }
}

function checkShown(payload: ReadWholePayload, state: AgentState): void {
  const { status, steps, current_step, last_continuation } = writeShown(state);
  const found = { status, steps, current_step, last_continuation };
  for (const name of ['status', 'steps', 'current_step', 'last_continuation'] as const)
    if (!jsonEquals(payload[name], found[name])) throw new DamagedDataError(name, 'it contradicts the state in the same payload');
  const waits = state.waitingFor.map(({ id }) => id);
  if (!jsonEquals(payload.waiting_for?.map(({ id }) => id) ?? [], waits))
    throw new DamagedDataError('waiting_for', 'it contradicts the state in the same payload');
  if (payload.execution.step_count !== steps.length)
    throw new DamagedDataError('execution.step_count', `expected ${String(steps.length)}, the number of steps in the payload`);
}

/** Reads the state of a whole payload. */
export function readWholePayload(payload: ReadWholePayload): AgentState {
  const derived = deriveState(payload);
  const { execution = {}, ...changes } = toObject(restoreKeys(payload.state ?? {}, 'state'));
  const stored = withChanges(derived.state, changes, 'state');
  const storedExecution = joinWaits(withChanges(derived.execution, execution, 'state.execution'), payload.waiting_for ?? []);
  const state = decodeState({ ...joinStored(stored, payload.messages), execution: storedExecution });
  checkShown(payload, state);
  return state;
}
