// All messages of a view.
// A1. Blocks that have not changed keep their messages: the same objects, so that a page need not draw them again.
import type { EventEnvelope } from '../broadcasting/index.ts';
import type { Block } from './block.ts';
import { getBlockKey } from './block.ts';
import type { BlockContent } from './block-messages.ts';
import { toBlockMessages } from './block-messages.ts';
import type { FindResolution } from './call-messages.ts';
import { getText } from './fields.ts';
import type { ViewMessage } from './message.ts';
import type { ViewState } from './view-state.ts';

type Resolutions = ViewState['resolutions'];

/** Finds what ended a wait: the first resolution after the request. Of an open request, only the time is known. */
export const createFinder =
  (resolutions: Resolutions): FindResolution =>
  ({ data, seq, timestamp }) =>
    resolutions.get(getText(data, 'wait_id') ?? '')?.find((each) => (seq === undefined ? each.timestamp >= timestamp : each.seq > seq));

interface CachedMessages {
  readonly messages: readonly ViewMessage[];
  /** Waits of the block, and what had ended them. */
  readonly waitIds: readonly string[];
  readonly ended: readonly unknown[];
}

const cache = new WeakMap<Block, CachedMessages>();

/** Returns the messages of a block that has nothing open. */
function getMessages(block: Block, resolutions: Resolutions): readonly ViewMessage[] {
  const found = cache.get(block);
  if (found?.waitIds.every((id, index) => resolutions.get(id) === found.ended[index]) === true) return found.messages;
  const requests = block.envelopes.filter(({ event }) => event === 'agent.tool.approval_requested');
  const waitIds = requests.map(({ data }) => getText(data, 'wait_id') ?? '');
  const messages = toBlockMessages({ envelopes: block.envelopes }, createFinder(resolutions));
  cache.set(block, { messages, waitIds, ended: waitIds.map((id) => resolutions.get(id)) });
  return messages;
}

function getOrder({ order, blocks }: ViewState): readonly string[] {
  // Written once for all states that have the order in common.
  order.keys ??= blocks
    .values()
    .sort((one, other) => one.position - other.position || (one.key < other.key ? -1 : 1))
    .map(({ key }) => key);
  return order.keys;
}

interface OpenBlock extends BlockContent {
  readonly key: string;
  readonly envelopes: EventEnvelope[];
  at: string;
  text?: BlockContent['text'];
}

const compareOpen = (one: EventEnvelope, other: EventEnvelope): number => {
  if (one.timestamp !== other.timestamp) return one.timestamp < other.timestamp ? -1 : 1;
  return (one.index ?? 0) - (other.index ?? 0) || one.part - other.part;
};

const isEarlier = (one: OpenBlock, other: OpenBlock): boolean => one.at < other.at || (one.at === other.at && one.key < other.key);

/** Groups open envelopes and texts by block. */
function groupOpen({ open }: ViewState): ReadonlyMap<string, OpenBlock> {
  const blocks = new Map<string, OpenBlock>();
  const findBlock = (envelope: EventEnvelope): OpenBlock => {
    const key = getBlockKey(envelope);
    const block = blocks.get(key) ?? { key, envelopes: [], at: envelope.timestamp };
    blocks.set(key, block);
    if (envelope.timestamp < block.at) block.at = envelope.timestamp;
    return block;
  };
  for (const item of [...open.items.values()].sort(compareOpen)) findBlock(item).envelopes.push(item);
  for (const text of open.texts.values()) findBlock(text.source).text = text;
  return blocks;
}

const flattened = new WeakMap<ViewState['blocks'], { readonly resolutions: Resolutions; readonly messages: readonly ViewMessage[] }>();

/** Returns the messages of everything that is stored. */
function flatten({ blocks, resolutions, ...state }: ViewState): readonly ViewMessage[] {
  const found = flattened.get(blocks);
  if (found?.resolutions === resolutions) return found.messages;
  const messages: ViewMessage[] = [];
  for (const key of getOrder({ blocks, resolutions, ...state })) {
    const block = blocks.get(key);
    if (block !== undefined) for (const message of getMessages(block, resolutions)) messages.push(message);
  }
  flattened.set(blocks, { resolutions, messages });
  return messages;
}

/** Returns all messages, stored and open, in the order in which they are shown. */
export function deriveMessages(state: ViewState): readonly ViewMessage[] {
  const { blocks, resolutions } = state;
  const open = groupOpen(state);
  if (open.size === 0) return flatten(state);
  const find = createFinder(resolutions);
  const inside = new Map<string, OpenBlock>();
  const behind: OpenBlock[] = [];
  for (const [key, block] of open) {
    if (blocks.get(key) === undefined) behind.push(block);
    else inside.set(key, block);
  }
  const tail = behind.sort((one, other) => (isEarlier(one, other) ? -1 : 1)).flatMap((block) => toBlockMessages(block, find));
  if (inside.size === 0) return tail.length === 0 ? flatten(state) : [...flatten(state), ...tail];
  const stored = getOrder(state).flatMap((key) => {
    const block = blocks.get(key);
    if (block === undefined) return [];
    const more = inside.get(key);
    if (more === undefined) return getMessages(block, resolutions);
    return toBlockMessages({ envelopes: [...block.envelopes, ...more.envelopes], text: more.text }, find);
  });
  return [...stored, ...tail];
}
