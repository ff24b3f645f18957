// Everything that a view is made of.
// Owns:     what is kept of each envelope, and how one is added.
// Does not: know messages, or what people see.
// G1. The state is a function of the set of envelopes: order and repetition make no difference.
// G2. A state that was handed out never changes; states share what they have in common.
import type { Envelope, EventEnvelope, HeadEnvelope } from '../broadcasting/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { Block, StoredEnvelope } from './block.ts';
import { addToBlock, getBlockKey } from './block.ts';
import { BlockList } from './block-list.ts';
import type { Records } from './drop-over.ts';
import { dropOver } from './drop-over.ts';
import type { ViewUsage } from './execution-facts.ts';
import { addUsage, countEnvelope, isRest } from './execution-facts.ts';
import { getObject, getText, getTexts, isCut, isRoot } from './fields.ts';
import type { SeqRange } from './known-ranges.ts';
import { addRange } from './known-ranges.ts';
import type { HeadTotals } from './head-totals.ts';
import { readTotals } from './head-totals.ts';
import type { OpenItems } from './open-items.ts';
import { addOpen, noItems } from './open-items.ts';
import type { SharedMapEdit } from './shared-map.ts';
import { SharedMap } from './shared-map.ts';

/** A session as `GET /sessions/:id` shows it. */
export interface SessionSnapshot {
  readonly session_id: string;
  readonly status: string;
  readonly stop_reason?: string;
  readonly last_seq: number;
  readonly sentence?: string;
  readonly waiting_for?: readonly JsonObject[];
}

export interface ViewState extends Records {
  readonly sessionId: string;
  readonly blocks: SharedMap<Block>;
  /** The same blocks in their order. */
  readonly list: BlockList;
  /** Numbers of events of which everything is known. */
  readonly known: readonly SeqRange[];
  /** Parts that came of events that are not whole yet. */
  readonly partial: ReadonlyMap<number, ReadonlySet<number>>;
  /** Highest number that was seen or announced. */
  readonly head: number;
  /** Highest number of an envelope that came. */
  readonly lastSeq: number;
  /** Messages whose text was cut, by number and part. */
  readonly cuts: ReadonlyMap<string, StoredEnvelope>;
  readonly usage: ViewUsage;
  /** Last status of the session's own agent. */
  readonly lastStatus?: StoredEnvelope;
  /** The last one that says that nothing runs. */
  readonly lastRest?: StoredEnvelope;
  /** The last message of a user. */
  readonly lastInput?: StoredEnvelope;
  /** Requests for approval, and what ended waits, by the id of the wait. */
  readonly requests: SharedMap<readonly StoredEnvelope[]>;
  readonly resolutions: SharedMap<readonly StoredEnvelope[]>;
  /** Last requests that nothing has ended, by the id of the wait. */
  readonly asked: ReadonlyMap<string, StoredEnvelope>;
  readonly open: OpenItems;
  /** The newest totals that a head had. */
  readonly totals?: HeadTotals;
  readonly snapshot?: SessionSnapshot;
}

export const createState = (sessionId: string): ViewState => ({
  sessionId,
  blocks: new SharedMap(),
  list: new BlockList(),
  known: [],
  partial: new Map(),
  head: 0,
  lastSeq: 0,
  cuts: new Map(),
  usage: {},
  executions: new SharedMap(),
  recordedAt: '',
  endedAt: '',
  requests: new SharedMap(),
  resolutions: new SharedMap(),
  asked: new Map(),
  open: noItems,
});

const isHead = (envelope: Envelope): envelope is HeadEnvelope => envelope.event === 'agent.head';

const isStored = (envelope: EventEnvelope): envelope is StoredEnvelope => envelope.seq !== undefined;

const getLater = (one: StoredEnvelope | undefined, other: StoredEnvelope): StoredEnvelope =>
  one !== undefined && (one.seq > other.seq || (one.seq === other.seq && one.part >= other.part)) ? one : other;

const sharedKeys = ['executions', 'requests', 'resolutions'] as const;
type SharedKey = (typeof sharedKeys)[number];
type SharedValue<Key extends SharedKey> = ViewState[Key] extends SharedMap<infer Value> ? Value : never;

type Edit = { -readonly [Key in keyof ViewState]: ViewState[Key] };

/** A state while envelopes are added to it: maps are copied once, at their first change. */
export class StateEdit {
  readonly #before: ViewState;
  readonly #state: Edit;
  readonly #blocks;
  readonly #list;
  readonly #shared: { -readonly [Key in SharedKey]?: SharedMapEdit<SharedValue<Key>> } = {};
  readonly #copies = new Set<ReadonlyMap<unknown, unknown>>();
  #hasChanged = false;
  #isPruned = true;

  constructor(state: ViewState) {
    this.#before = state;
    this.#state = { ...state };
    this.#blocks = state.blocks.edit();
    this.#list = state.list.edit();
  }

  add(envelope: Envelope): void {
    const state = this.#state;
    if (envelope.session_id !== state.sessionId) return;
    if (isHead(envelope)) this.#addHead(envelope);
    else if (isStored(envelope)) this.#addStored(envelope);
    else this.#addOpen(envelope);
  }

  /** Notes that everything in a range was fetched, also if it has no envelopes. */
  know(range: SeqRange): void {
    const known = addRange(this.#state.known, range);
    if (known === this.#state.known) return;
    this.#state.known = known;
    this.#hasChanged = true;
  }

  /** Takes a snapshot, unless it is older than the one before. */
  setSnapshot(snapshot: SessionSnapshot): void {
    const { snapshot: before, sessionId } = this.#state;
    if (snapshot.session_id !== sessionId || (before !== undefined && before.last_seq > snapshot.last_seq)) return;
    this.#state.snapshot = snapshot;
    this.#hasChanged = true;
    this.#raiseHead(snapshot.last_seq);
  }

  /** Returns the state as it is now; the one before if nothing has changed. */
  finish(): ViewState {
    if (!this.#hasChanged) return this.#before;
    const state = this.#state;
    for (const key of sharedKeys) this.#finishShared(key);
    if (!this.#isPruned) state.open = dropOver(state.open, state);
    return { ...state, blocks: this.#blocks.finish(), list: this.#list.finish() };
  }

  #addHead(envelope: HeadEnvelope): void {
    this.#raiseHead(envelope.data.seq);
    const totals = readTotals(envelope);
    if (totals === undefined || totals.seq <= (this.#state.totals?.seq ?? 0)) return;
    this.#state.totals = totals;
    this.#hasChanged = true;
  }

  #raiseHead(seq: number): void {
    if (seq <= this.#state.head) return;
    this.#state.head = seq;
    this.#hasChanged = true;
  }

  #addOpen(envelope: EventEnvelope): void {
    const open = addOpen(this.#state.open, envelope);
    if (open === this.#state.open) return;
    this.#state.open = open;
    this.#hasChanged = true;
    this.#isPruned = false;
  }

  #addStored(envelope: StoredEnvelope): void {
    const key = getBlockKey(envelope);
    const before = this.#blocks.get(key);
    const block = addToBlock(before, key, envelope);
    if (block === before) return;
    this.#blocks.set(key, block);
    this.#list.put(block, before);
    this.#hasChanged = true;
    this.#noteCut(envelope);
    // A fuller envelope in place of another is counted already.
    if (block.envelopes.length === before?.envelopes.length) {
      this.#noteRequest(envelope);
      return;
    }
    this.#raiseHead(envelope.seq);
    this.#state.lastSeq = Math.max(this.#state.lastSeq, envelope.seq);
    this.#notePart(envelope);
    this.#count(envelope);
    if (envelope.event === 'agent.stream.void') this.#addOpen(envelope);
  }

  #noteCut(envelope: StoredEnvelope): void {
    const key = `${envelope.seq}.${envelope.part}`;
    const isMissing = envelope.event === 'agent.message' && isCut(envelope) && getTexts(envelope.data, 'cut').includes('text');
    if (isMissing) this.#edit('cuts').set(key, envelope);
    else if (this.#state.cuts.has(key)) this.#edit('cuts').delete(key);
  }

  #notePart({ seq, part, parts = 1, prev_seq }: StoredEnvelope): void {
    const { partial } = this.#state;
    const seen = new Set(partial.get(seq)).add(part);
    if (seen.size < parts) {
      this.#edit('partial').set(seq, seen);
      return;
    }
    if (partial.has(seq)) this.#edit('partial').delete(seq);
    this.know({ first: (prev_seq ?? seq - 1) + 1, last: seq });
  }

  #count(envelope: StoredEnvelope): void {
    const { event, data, execution_id, timestamp } = envelope;
    const state = this.#state;
    const isOwn = isRoot(envelope);
    const isSpoken = event === 'agent.message' && getText(data, 'role') === 'assistant';
    if (event === 'agent.step.completed' || event === 'agent.status' || isSpoken) {
      const executions = this.#share('executions');
      executions.set(execution_id, countEnvelope(executions.get(execution_id), envelope));
      this.#isPruned = false;
    }
    const waitId = getText(data, 'wait_id');
    if (waitId !== undefined && event === 'agent.wait.resolved') this.#addTo('resolutions', waitId, envelope);
    this.#noteRequest(envelope);
    if (!isOwn) return;
    if (event === 'agent.message' && getText(data, 'role') === 'user') state.lastInput = getLater(state.lastInput, envelope);
    if (event === 'agent.status') state.lastStatus = getLater(state.lastStatus, envelope);
    if (event === 'agent.step.completed') state.usage = addUsage(state.usage, getObject(data, 'usage') ?? {});
    const rests = isRest(envelope);
    if (rests) state.lastRest = getLater(state.lastRest, envelope);
    if ((rests || event === 'agent.step.completed') && timestamp > state.recordedAt) state.recordedAt = timestamp;
    if (rests && getText(data, 'status') !== 'waiting' && timestamp > state.endedAt) state.endedAt = timestamp;
  }

  #noteRequest(envelope: StoredEnvelope): void {
    const waitId = getText(envelope.data, 'wait_id');
    if (waitId !== undefined && envelope.event === 'agent.tool.approval_requested') this.#addTo('requests', waitId, envelope);
  }

  #addTo(key: 'requests' | 'resolutions', waitId: string, envelope: StoredEnvelope): void {
    const map = this.#share(key);
    const others = (map.get(waitId) ?? []).filter((each) => each.seq !== envelope.seq || each.part !== envelope.part);
    const list = [...others, envelope];
    list.sort((one, other) => one.seq - other.seq || one.part - other.part);
    map.set(waitId, list);
    this.#noteAsked(waitId);
  }

  #noteAsked(waitId: string): void {
    const last = this.#share('requests').get(waitId)?.at(-1);
    const isOpen =
      last !== undefined &&
      this.#share('resolutions')
        .get(waitId)
        ?.some(({ seq }) => seq > last.seq) !== true;
    if (isOpen) this.#edit('asked').set(waitId, last);
    else if (this.#state.asked.has(waitId)) this.#edit('asked').delete(waitId);
  }

  /** Returns a shared map that may be changed. */
  #share<Key extends SharedKey>(key: Key): SharedMapEdit<SharedValue<Key>> {
    const open = this.#shared[key];
    if (open !== undefined) return open;
    // Holds: the map under a key has the values of that key.
    const edit = this.#state[key].edit() as SharedMapEdit<SharedValue<Key>>;
    this.#shared[key] = edit as never;
    return edit;
  }

  #finishShared(key: SharedKey): void {
    const edit = this.#shared[key];
    // Holds: the map under a key has the values of that key.
    if (edit !== undefined) this.#state[key] = edit.finish() as never;
  }

  /** Returns a map that may be changed: a copy, at the first time. */
  #edit<Key extends 'cuts' | 'partial' | 'asked'>(key: Key): ViewState[Key] extends ReadonlyMap<infer K, infer V> ? Map<K, V> : never {
    const map: ReadonlyMap<unknown, unknown> = this.#state[key];
    const copy = this.#copies.has(map) ? map : new Map(map);
    this.#copies.add(copy);
    // Holds: a copy has the types of the map that it was copied from, and nobody else has it yet.
    this.#state[key] = copy as never;
    return copy as never;
  }
}
