// Blocks: the stored envelopes that are shown together, those of one step or a single one.
// B1. A block is the same for the same envelopes, whatever order they came in. It never changes.
import type { EventEnvelope } from '../broadcasting/index.ts';
import { getStep, getText, isCut } from './fields.ts';

/** A stored envelope. */
export type StoredEnvelope = EventEnvelope & { readonly seq: number };

export interface Block {
  readonly key: string;
  /** In the order of their numbers. */
  readonly envelopes: readonly StoredEnvelope[];
  /** Blocks are shown in the order of their positions. */
  readonly position: number;
}

/** Names the block that an envelope belongs to. */
export function getBlockKey(envelope: EventEnvelope): string {
  const { event, data, execution_id, seq = 0, part, timestamp } = envelope;
  const step = getStep(envelope);
  if (step !== undefined) return `step:${execution_id}/${step}`;
  const messageId = event === 'agent.message' ? getText(data, 'message_id') : undefined;
  return messageId === undefined ? `event:${seq === 0 ? timestamp : seq}.${part}` : `message:${messageId}`;
}

const isBefore = (one: StoredEnvelope, other: StoredEnvelope): boolean =>
  one.seq < other.seq || (one.seq === other.seq && one.part < other.part);

/** Calls are shown behind the words that announce them. A step without calls of its own is shown where it spoke. */
function getPosition(envelopes: readonly StoredEnvelope[]): number {
  const isCalling = envelopes.some(({ event }) => event.startsWith('agent.tool.'));
  const spoken = isCalling ? undefined : envelopes.find(({ event }) => event === 'agent.message');
  return (spoken ?? envelopes[0])?.seq ?? 0;
}

/** True if an envelope has what the other lacks: data that was cut, or the digest, which not every sender knows. */
const isFuller = (one: StoredEnvelope, other: StoredEnvelope): boolean =>
  (isCut(other) && !isCut(one)) || (one.data['digest'] !== undefined && other.data['digest'] === undefined);

/** Adds an envelope to a block. Returns the same block if it had the envelope. */
export function addToBlock(block: Block | undefined, key: string, envelope: StoredEnvelope): Block {
  const envelopes = block?.envelopes ?? [];
  const at = envelopes.findLastIndex((each) => !isBefore(envelope, each));
  const found = envelopes[at];
  const isSame = found?.seq === envelope.seq && found.part === envelope.part;
  if (isSame && block !== undefined && !isFuller(envelope, found)) return block;
  const next = [...envelopes.slice(0, isSame ? at : at + 1), envelope, ...envelopes.slice(at + 1)];
  return { key, envelopes: next, position: getPosition(next) };
}
