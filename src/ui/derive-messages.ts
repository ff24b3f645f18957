// All messages of a view.
// A1. Blocks that have not changed keep their messages: the same objects, so that a page need not draw them again.
// A2. A chunk of text costs the messages of its own block, and one copy of the list.
import type { EventEnvelope } from '../broadcasting/index.ts';
import type { Block } from './block.ts';
import { getBlockKey } from './block.ts';
import type { BlockList, BlockPage } from './block-list.ts';
import type { BlockContent } from './block-messages.ts';
import { toBlockMessages } from './block-messages.ts';
import type { FindResolution } from './call-messages.ts';
import { getShown } from './drop-over.ts';
import { getText } from './fields.ts';
import type { ViewMessage } from './message.ts';
import { compareOpen } from './open-items.ts';
import type { ViewState } from './view-state.ts';

type Resolutions = ViewState['resolutions'];

/** Finds what ended a wait: the first resolution after the request. Of an open request, only the time is known. */
export const createFinder =
  (resolutions: Resolutions): FindResolution =>
  ({ data, seq, timestamp }) =>
    resolutions.get(getText(data, 'wait_id') ?? '')?.find((each) => (seq === undefined ? each.timestamp >= timestamp : each.seq > seq));

interface CachedMessages {
  readonly messages: readonly ViewMessage[];
  /** Waits of the blocks, and what had ended them. */
  readonly waitIds: readonly string[];
  readonly ended: readonly unknown[];
}

const isCurrent = ({ waitIds, ended }: CachedMessages, resolutions: Resolutions): boolean =>
  waitIds.every((id, index) => resolutions.get(id) === ended[index]);

const blockCache = new WeakMap<Block, CachedMessages>();
const pageCache = new WeakMap<BlockPage, CachedMessages>();

/** Returns the messages of a block that has nothing open. */
function readBlock(block: Block, resolutions: Resolutions): CachedMessages {
  const found = blockCache.get(block);
  if (found !== undefined && isCurrent(found, resolutions)) return found;
  const requests = block.envelopes.filter(({ event }) => event === 'agent.tool.approval_requested');
  const waitIds = requests.map(({ data }) => getText(data, 'wait_id') ?? '');
  const messages = toBlockMessages({ envelopes: block.envelopes }, createFinder(resolutions));
  const read = { messages, waitIds, ended: waitIds.map((id) => resolutions.get(id)) };
  blockCache.set(block, read);
  return read;
}

/** Returns the messages of a page that has nothing open. */
function readPage(page: BlockPage, resolutions: Resolutions): readonly ViewMessage[] {
  const found = pageCache.get(page);
  if (found !== undefined && isCurrent(found, resolutions)) return found.messages;
  const parts = page.blocks.map((block) => readBlock(block, resolutions));
  const read = {
    messages: parts.flatMap(({ messages }) => messages),
    waitIds: parts.flatMap(({ waitIds }) => waitIds),
    ended: parts.flatMap(({ ended }) => ended),
  };
  pageCache.set(page, read);
  return read.messages;
}

interface OpenBlock extends BlockContent {
  readonly key: string;
  readonly envelopes: EventEnvelope[];
  at: string;
  text?: BlockContent['text'];
}

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
  const { items, texts } = getShown(open);
  for (const item of [...items].sort(compareOpen)) findBlock(item).envelopes.push(item);
  for (const text of texts) findBlock(text.source).text = text;
  return blocks;
}

const join = (parts: readonly (readonly ViewMessage[])[]): readonly ViewMessage[] => ([] as readonly ViewMessage[]).concat(...parts);

const flattened = new WeakMap<BlockList, { readonly resolutions: Resolutions; readonly messages: readonly ViewMessage[] }>();

/** Returns the messages of everything that is stored. */
function flatten({ list, resolutions }: ViewState): readonly ViewMessage[] {
  const found = flattened.get(list);
  if (found?.resolutions === resolutions) return found.messages;
  const messages = join(list.pages.map((page) => readPage(page, resolutions)));
  flattened.set(list, { resolutions, messages });
  return messages;
}

/** Returns the messages of everything that is stored, with what is open of the same blocks. */
function flattenWith({ list, blocks, resolutions }: ViewState, inside: ReadonlyMap<string, OpenBlock>): readonly ViewMessage[] {
  const find = createFinder(resolutions);
  const touched = new Set([...inside.keys()].flatMap((key) => blocks.get(key) ?? []).map((block) => list.findPage(block)));
  const readOpen = (block: Block): readonly ViewMessage[] => {
    const more = inside.get(block.key);
    if (more === undefined) return readBlock(block, resolutions).messages;
    return toBlockMessages({ envelopes: [...block.envelopes, ...more.envelopes], text: more.text }, find);
  };
  return join(list.pages.map((page) => (touched.has(page) ? page.blocks.flatMap(readOpen) : readPage(page, resolutions))));
}

/** Returns all messages, stored and open, in the order in which they are shown. */
export function deriveMessages(state: ViewState): readonly ViewMessage[] {
  const { blocks, resolutions } = state;
  const open = groupOpen(state);
  if (open.size === 0) return flatten(state);
  const inside = new Map<string, OpenBlock>();
  const behind: OpenBlock[] = [];
  for (const [key, block] of open) {
    if (blocks.get(key) === undefined) behind.push(block);
    else inside.set(key, block);
  }
  const find = createFinder(resolutions);
  const tail = behind.sort((one, other) => (isEarlier(one, other) ? -1 : 1)).flatMap((block) => toBlockMessages(block, find));
  const stored = inside.size === 0 ? flatten(state) : flattenWith(state, inside);
  return tail.length === 0 ? stored : stored.concat(tail);
}
