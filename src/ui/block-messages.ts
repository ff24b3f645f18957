// The messages of a block.
// V1. Words first, then the calls that they announce, then what went wrong. Only a takeover comes before the words.
// V2. No message has the JSON of arguments or results as its text.
import type { EventEnvelope } from '../broadcasting/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { CallRecord, FindResolution } from './call-messages.ts';
import { groupCalls, toToolCall, toToolMessage } from './call-messages.ts';
import { isRest } from './execution-facts.ts';
import { getAuthor, getNumber, getObjects, getStep, getText, isRoot } from './fields.ts';
import type { AssistantViewMessage, StatusViewMessage, UserViewMessage, ViewMessage } from './message.ts';
import { StatusType } from './message.ts';
import type { OpenText } from './open-text.ts';
import { readText } from './open-text.ts';
import { describePaused, describeStop, describeWaits, isJsonLike } from './sentences.ts';

/** Everything that is shown together. */
export interface BlockContent {
  /** Stored envelopes in their order, then open ones. */
  readonly envelopes: readonly EventEnvelope[];
  /** Text that is being written. */
  readonly text?: OpenText | undefined;
}

interface Base {
  readonly timestamp: string;
  readonly agent_id: string;
  readonly parent_agent_id?: string;
  readonly participant?: string;
  readonly step_number?: number;
  readonly provisional?: true;
}

const toBase = (envelope: EventEnvelope): Base =>
  omitUndefined({
    timestamp: envelope.timestamp,
    agent_id: envelope.agent_id,
    parent_agent_id: envelope.parent_agent_id,
    participant: envelope.participant,
    step_number: getStep(envelope),
    provisional: envelope.seq === undefined ? (true as const) : undefined,
  });

const isFromUser = (data: JsonObject): boolean => getText(data, 'role') === 'user';

const getStepId = (envelope: EventEnvelope): string => `${envelope.execution_id}/${getStep(envelope) ?? 0}`;

const toCalls = (calls: readonly CallRecord[]): Pick<AssistantViewMessage, 'tool_calls'> =>
  calls.length === 0 ? {} : { tool_calls: calls.map(toToolCall) };

/** Words that were stored. Agents inside another speak to that one only. */
function toSpoken(envelopes: readonly EventEnvelope[], calls: readonly CallRecord[]): readonly AssistantViewMessage[] {
  const spoken = envelopes.findLast(({ event, seq, data }) => event === 'agent.message' && seq !== undefined && !isFromUser(data));
  const text = spoken && getText(spoken.data, 'text');
  if (spoken === undefined || !isRoot(spoken) || (calls.length > 0 && isJsonLike(text ?? ''))) return [];
  const completed = envelopes.findLast(({ event }) => event === 'agent.step.completed');
  const more = omitUndefined({
    message_id: getText(spoken.data, 'message_id'),
    by: getAuthor(spoken.data),
    interrupted: completed && getText(completed.data, 'interrupted'),
  });
  return [{ id: getStepId(spoken), role: 'assistant', text: text ?? '', ...toBase(spoken), ...more, ...toCalls(calls) }];
}

/** Words that are being written. Nothing of what may become the JSON of a call is shown. */
function toWritten(open: OpenText | undefined, calls: readonly CallRecord[]): readonly AssistantViewMessage[] {
  if (open === undefined || (!isRoot(open.source) && open.source.participant === undefined)) return [];
  const [text, reasoning] = [readText(open.text), readText(open.reasoning)];
  const shown = isJsonLike(text) ? '' : text;
  if (shown === '' && reasoning === '') return [];
  const more = { ...(reasoning !== '' && { reasoning }), ...toCalls(calls) };
  return [{ id: getStepId(open.source), role: 'assistant', text: shown, ...toBase(open.source), ...more }];
}

const toStatus = (
  envelope: EventEnvelope,
  status_type: StatusViewMessage['status_type'],
  more: Pick<StatusViewMessage, 'text' | 'continuation' | 'retry'>,
): StatusViewMessage => {
  const by = getAuthor(envelope.data);
  const id = `${envelope.seq ?? `${envelope.execution_id}/${envelope.attempt ?? 1}/${envelope.index ?? 0}`}.${envelope.part}`;
  return { id, role: 'status', status_type, ...toBase(envelope), ...(by !== undefined && { by }), ...more };
};

const getSentence = ({ data }: EventEnvelope): string => getText(data, 'sentence') ?? '';

function toRetry(envelope: EventEnvelope): StatusViewMessage {
  const { data } = envelope;
  const retry = omitUndefined({
    attempt: getNumber(data, 'attempt') ?? 1,
    max_attempts: getNumber(data, 'max_attempts'),
    delay_ms: getNumber(data, 'delay_ms') ?? 0,
    error_type: getText(data, 'error_type') ?? '',
  });
  return toStatus(envelope, StatusType.Error, { text: getSentence(envelope), retry });
}

/** Says what a run waits for. */
function describeRest(envelope: EventEnvelope): string {
  const waits = getObjects(envelope.data, 'waiting_for');
  const grant = waits.find((wait) => wait['type'] === 'grant');
  if (grant !== undefined) return describePaused(getText(grant, 'limit') ?? '');
  const described = waits.map((wait) => ({
    type: getText(wait, 'type') ?? '',
    tool: getText(wait, 'tool'),
    participant: getText(wait, 'participant'),
    reason: getText(wait, 'reason'),
  }));
  return describeWaits(described) ?? getSentence(envelope);
}

/** Shows the status of the session's own agent: how a run ended, why it pauses, and what people did. */
function toRunStatus(envelope: EventEnvelope): readonly StatusViewMessage[] {
  const { data } = envelope;
  if (!isRest(envelope)) {
    const isAction = data['granted'] !== undefined || data['cancel_requested'] === true;
    return isAction ? [toStatus(envelope, StatusType.Info, { text: getSentence(envelope) })] : [];
  }
  const status = getText(data, 'status');
  if (status === 'completed') return [];
  if (status === 'waiting') {
    // Calls that wait show it themselves.
    const isPause = getObjects(data, 'waiting_for').some((wait) => wait['tool'] === undefined);
    return isPause ? [toStatus(envelope, StatusType.Info, { text: describeRest(envelope) })] : [];
  }
  const [stop_reason = null, resolved_by = ''] = [getText(data, 'stop_reason'), getText(data, 'resolved_by')];
  const continuation = { should_continue: false, stop_reason, resolved_by };
  const type = status === 'failed' ? StatusType.Error : StatusType.Continuation;
  return [toStatus(envelope, type, { text: describeStop(data), continuation })];
}

function toUserMessage(envelope: EventEnvelope): UserViewMessage {
  const { data } = envelope;
  const id = getText(data, 'message_id') ?? '';
  const attachments = getNumber(data, 'attachments');
  return {
    id,
    role: 'user',
    text: getText(data, 'text') ?? '',
    ...toBase(envelope),
    message_id: id,
    by: getAuthor(data) ?? { id: '', kind: 'user' },
    ...(attachments !== undefined && { attachments }),
  };
}

/** Shows what one envelope says about the run itself. */
function toNotices(envelope: EventEnvelope): readonly ViewMessage[] {
  if (!isRoot(envelope)) return [];
  switch (envelope.event) {
    case 'agent.retry':
      return [toRetry(envelope)];
    case 'agent.model_fallback':
      return [toStatus(envelope, StatusType.Info, { text: getSentence(envelope) })];
    case 'agent.error':
      // The status that follows says how a run failed.
      return getText(envelope.data, 'code') === 'crash-loop' ? [toStatus(envelope, StatusType.Error, { text: getSentence(envelope) })] : [];
    case 'agent.status':
      return toRunStatus(envelope);
    case 'agent.message':
      return isFromUser(envelope.data) ? [toUserMessage(envelope)] : [];
    default:
      return [];
  }
}

/** Says that another process took over a step. */
function toTakeover(envelopes: readonly EventEnvelope[]): readonly ViewMessage[] {
  const resumed = envelopes.find(({ event, data }) => event === 'agent.step.started' && data['resumed'] === true);
  if (resumed === undefined || !isRoot(resumed)) return [];
  const text = `The worker ended; another one took over and resumed step ${getStep(resumed) ?? 0}.`;
  // The id is the same before and after the step is stored.
  return [{ ...toStatus(resumed, StatusType.Info, { text }), id: `${getStepId(resumed)}/takeover` }];
}

/** Drops open notices that are stored by now. */
const isOpenTwin = (envelope: EventEnvelope, envelopes: readonly EventEnvelope[]): boolean =>
  envelope.seq === undefined &&
  envelopes.some(({ seq, event, timestamp }) => seq !== undefined && event === envelope.event && timestamp === envelope.timestamp);

/** Returns the messages of a block. */
export function toBlockMessages({ envelopes, text }: BlockContent, findResolution: FindResolution): readonly ViewMessage[] {
  const calls = groupCalls(envelopes);
  const spoken = toSpoken(envelopes, calls);
  const words = spoken.length > 0 ? spoken : toWritten(text, calls);
  const notices = envelopes.filter((envelope) => !isOpenTwin(envelope, envelopes)).flatMap(toNotices);
  return [...toTakeover(envelopes), ...words, ...calls.map((call) => toToolMessage(call, findResolution)), ...notices];
}
