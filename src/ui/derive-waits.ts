// What a session waits for.
// W1. A wait that was decided stays so, whatever comes again and in whatever order.
import type { EventEnvelope } from '../broadcasting/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import { omitUndefined } from '../lib/index.ts';
import { getBlockKey } from './block.ts';
import { createFinder } from './derive-messages.ts';
import { getShown } from './drop-over.ts';
import { getObjects, getText, getTexts } from './fields.ts';
import { compareOpen } from './open-items.ts';
import type { ViewState } from './view-state.ts';

/** Something that a session waits for. */
export interface ViewWait {
  readonly wait_id: string;
  /** `approval`, `client-tool`, `unknown-call`, `person`, `provider` or `grant`. */
  readonly type: string;
  readonly tool?: string;
  readonly tool_call_id?: string;
  readonly args_summary?: string;
  /** Present if the server sends arguments. */
  readonly args?: Json;
  /** Arguments that the summary does not show as they are: fetch the whole wait before you approve it. */
  readonly hidden_fields?: readonly string[];
  /** Binds an answer to what was shown; absent if something of it is not shown: read the whole wait. */
  readonly digest?: string;
  readonly expires_at?: string;
  /** Limit that was reached. */
  readonly limit?: string;
  /** Participant who is asked. */
  readonly participant?: string;
  /** Agent inside the session's own that asks. */
  readonly agent?: string;
  readonly prompt?: string;
  readonly reason?: string;
  /** Problem with the last answer. */
  readonly problem?: string;
  readonly since?: string;
  readonly next_try_at?: string;
  readonly give_up_at?: string;
}

const waitFields = [
  ...['tool', 'tool_call_id', 'args_summary', 'digest', 'expires_at', 'limit', 'participant', 'agent', 'prompt', 'reason', 'problem'],
  ...['since', 'next_try_at', 'give_up_at'],
];

/** Reads a wait from the fields of a status, a request or a snapshot. */
function toWait(type: string, data: JsonObject): ViewWait {
  const texts = Object.fromEntries(waitFields.map((key) => [key, getText(data, key)]));
  const more = { args: data['args'], hidden_fields: data['hidden_fields'] === undefined ? undefined : getTexts(data, 'hidden_fields') };
  return omitUndefined({ wait_id: getText(data, 'wait_id') ?? '', type, ...texts, ...more });
}

const toRequested = ({ data }: EventEnvelope): ViewWait => toWait('approval', data);

const isCompleted = (envelopes: Iterable<EventEnvelope>, { data, execution_id }: EventEnvelope): boolean => {
  for (const each of envelopes) {
    const isSame = each.event === 'agent.tool.completed' && each.execution_id === execution_id;
    if (isSame && each.data['tool_call_id'] === data['tool_call_id']) return true;
  }
  return false;
};

/** Requests for approval that nobody has answered, by the id of their wait. */
function findRequests(state: ViewState): ReadonlyMap<string, EventEnvelope> {
  const { asked, requests, blocks, open, resolutions, lastRest } = state;
  const find = createFinder(resolutions);
  const found = new Map<string, EventEnvelope>();
  const listed = new Set(getObjects(lastRest?.data ?? {}, 'waiting_for').map((wait) => getText(wait, 'wait_id')));
  for (const [waitId, last] of [...asked].sort(([, one], [, other]) => one.seq - other.seq || one.part - other.part)) {
    // A run that has ended, or waits for other things, no longer waits for this.
    if (lastRest !== undefined && lastRest.seq > last.seq && !listed.has(waitId)) continue;
    if (!isCompleted(blocks.get(getBlockKey(last))?.envelopes ?? [], last)) found.set(waitId, last);
  }
  const { items } = getShown(open);
  for (const item of [...items].sort(compareOpen)) {
    const waitId = item.event === 'agent.tool.approval_requested' ? getText(item.data, 'wait_id') : undefined;
    if (waitId === undefined || requests.get(waitId) !== undefined || find(item) !== undefined) continue;
    if (!isCompleted(items, item)) found.set(waitId, item);
  }
  return found;
}

/** True if the snapshot is newer than everything that came. */
export const isSnapshotNewer = ({ snapshot, lastSeq }: ViewState): boolean => snapshot !== undefined && snapshot.last_seq > lastSeq;

/** Returns everything that the session waits for. */
export function deriveWaits(state: ViewState): readonly ViewWait[] {
  const { lastRest, lastStatus, resolutions, snapshot } = state;
  if (snapshot !== undefined && isSnapshotNewer(state))
    return (snapshot.waiting_for ?? []).map((wait) => toWait(getText(wait, 'type') ?? '', wait));
  const requests = findRequests(state);
  const listed = getObjects(lastRest?.data ?? {}, 'waiting_for').filter((wait) => {
    const isDecided = resolutions.get(getText(wait, 'wait_id') ?? '')?.some(({ seq }) => seq > (lastRest?.seq ?? 0)) === true;
    return !isDecided && (wait['tool'] !== undefined || lastStatus === lastRest);
  });
  const listedIds = new Set(listed.map((wait) => getText(wait, 'wait_id')));
  return [
    ...listed.map((wait) => {
      const request = requests.get(getText(wait, 'wait_id') ?? '');
      return { ...(request && toRequested(request)), ...toWait(getText(wait, 'type') ?? '', wait) };
    }),
    ...[...requests].filter(([id]) => !listedIds.has(id)).map(([, request]) => toRequested(request)),
  ];
}
