// A message from its chunks, as a page would have it. Only the chunks that an answer has are known.
import type { AgentUIMessage, AnswerChunk, AnswerMetadata } from './answer-types.ts';

type Part = AgentUIMessage['parts'][number];
type Fields = Record<string, unknown>;

interface Folded {
  id: string;
  metadata: AnswerMetadata;
  parts: Fields[];
}

const findCall = ({ parts }: Folded, toolCallId: string): Fields => parts.findLast((part) => part['toolCallId'] === toolCallId) ?? {};

/** Drops the parts of the last step. */
function resetStep(folded: Folded): void {
  const start = folded.parts.findLastIndex(({ type }) => type === 'step-start');
  folded.parts.splice(start + 1);
}

type InputChunk = Extract<AnswerChunk, { readonly type: 'tool-input-start' | 'tool-input-available' | 'tool-input-error' }>;

function addCall(folded: Folded, { toolCallId, toolName, dynamic }: InputChunk, fields: Fields): void {
  const start = folded.parts.findLastIndex(({ type }) => type === 'step-start');
  const known = folded.parts.find((part, index) => index > start && part['toolCallId'] === toolCallId);
  const names = dynamic === true ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` };
  if (known === undefined) folded.parts.push({ ...names, toolCallId, ...fields });
  else Object.assign(known, fields);
}

function take(folded: Folded, chunk: AnswerChunk): void {
  switch (chunk.type) {
    case 'start':
      folded.id = chunk.messageId ?? folded.id;
      folded.metadata = { ...folded.metadata, ...chunk.messageMetadata };
      return;
    case 'finish':
    case 'message-metadata':
      folded.metadata = { ...folded.metadata, ...chunk.messageMetadata };
      return;
    case 'start-step':
      folded.parts.push({ type: 'step-start' });
      return;
    case 'reset-step':
      resetStep(folded);
      return;
    case 'text-start':
      folded.parts.push({ type: 'text', text: '', state: 'done' });
      return;
    case 'reasoning-start':
      folded.parts.push({ type: 'reasoning', id: chunk.id, text: '', state: 'done' });
      return;
    case 'text-delta':
    case 'reasoning-delta': {
      const last = folded.parts.at(-1);
      if (last !== undefined) last['text'] = `${String(last['text'])}${chunk.delta}`;
      return;
    }
    case 'tool-input-start':
      addCall(folded, chunk, { state: 'input-streaming' });
      return;
    case 'tool-input-delta':
      Object.assign(findCall(folded, chunk.toolCallId), { state: 'input-available', input: JSON.parse(chunk.inputTextDelta) as unknown });
      return;
    case 'tool-input-available':
      addCall(folded, chunk, { state: 'input-available', input: chunk.input });
      return;
    case 'tool-input-error':
      addCall(folded, chunk, { state: 'output-error', input: chunk.input, errorText: chunk.errorText });
      return;
    case 'tool-approval-request': {
      const descriptor = chunk.approvalDescriptor === undefined ? {} : { descriptor: chunk.approvalDescriptor };
      Object.assign(findCall(folded, chunk.toolCallId), { state: 'approval-requested', approval: { id: chunk.approvalId, ...descriptor } });
      return;
    }
    case 'tool-approval-response': {
      const call = folded.parts.find((part) => (part['approval'] as Fields | undefined)?.['id'] === chunk.approvalId) ?? {};
      const reason = chunk.reason === undefined ? {} : { reason: chunk.reason };
      const approval = { ...(call['approval'] as Fields), approved: chunk.approved, ...reason };
      Object.assign(call, { state: 'approval-responded', approval });
      return;
    }
    case 'tool-output-available':
      Object.assign(findCall(folded, chunk.toolCallId), { state: 'output-available', output: chunk.output });
      return;
    case 'tool-output-error':
      Object.assign(findCall(folded, chunk.toolCallId), { state: 'output-error', errorText: chunk.errorText });
      return;
    case 'tool-output-denied':
      findCall(folded, chunk.toolCallId)['state'] = 'output-denied';
      return;
    case 'data-outcome': {
      const { id, data } = chunk;
      const known = folded.parts.find((part) => part['type'] === 'data-outcome' && part['id'] === id);
      if (known === undefined) folded.parts.push({ type: 'data-outcome', id, data });
      else known['data'] = data;
      return;
    }
    default:
  }
}

/** Returns the message that a page has after these chunks. */
export function foldChunks(chunks: readonly AnswerChunk[]): AgentUIMessage {
  const folded: Folded = { id: '', metadata: {}, parts: [] };
  for (const chunk of chunks) take(folded, chunk);
  // Holds: parts are made as the chunks say.
  return { id: folded.id, role: 'assistant', metadata: folded.metadata, parts: folded.parts as unknown as Part[] };
}
