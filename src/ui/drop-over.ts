// Open envelopes that no longer count.
// Owns:     which of them are over for good, and which of the others are shown.
// O1. What a record contains, or what came before a wait, is over for good: that never changes, so it may be dropped at any time.
// O2. What a later attempt or answer has replaced, or a void took back, is only hidden: attempts are counted from 1 again after a wait, and
//     it may turn out later that there was one.
import type { EventEnvelope } from '../broadcasting/index.ts';
import type { ExecutionFacts } from './execution-facts.ts';
import { getStep, isRoot } from './fields.ts';
import type { OpenItems, VoidMark, VoidMarks } from './open-items.ts';
import { getStepKey, toRank } from './open-items.ts';
import type { OpenText } from './open-text.ts';
import { dropChunks } from './open-text.ts';
import type { SharedMap } from './shared-map.ts';

/** Facts of stored envelopes that end open ones. */
export interface Records {
  readonly executions: SharedMap<ExecutionFacts>;
  /** Time at which the session's own agent recorded a step, waited or ended for the last time. */
  readonly recordedAt: string;
  /** Time of its last end. */
  readonly endedAt: string;
}

/** Place and time of something open. */
interface Place {
  readonly executionId: string;
  readonly step: number | undefined;
  readonly attempt: number;
  readonly at: string;
}

type Entries<Value> = readonly (readonly [string, Value])[];

const toItemPlace = (item: EventEnvelope): Place => ({
  executionId: item.execution_id,
  step: getStep(item),
  attempt: item.attempt ?? 1,
  at: item.timestamp,
});

const toTextPlace = ({ source, step, attempt, lastAt }: OpenText): Place => ({
  executionId: source.execution_id,
  step,
  attempt,
  at: lastAt,
});

function isRecorded({ executions }: Records, { executionId, step, at }: Omit<Place, 'attempt'>): boolean {
  const facts = executions.get(executionId);
  if (facts === undefined) return false;
  return facts.hasEnded || at < facts.restAt || (step !== undefined && step <= facts.doneStep);
}

/** True if the words of a text are stored. Its own time does not say so: a text is sent later than it was written. */
const isSpoken = ({ executions }: Records, { source, step }: OpenText): boolean =>
  step <= (executions.get(source.execution_id)?.spokenStep ?? 0);

/** Drops voids of steps that are recorded or have waited since: attempts are then counted from 1 again. */
function dropVoids(marks: VoidMarks, records: Records): VoidMarks {
  const kept = [...marks].map(([key, list]) => {
    const slash = key.lastIndexOf('/');
    const place = { executionId: key.slice(0, slash), step: Number(key.slice(slash + 1)) };
    return [key, list.filter(({ at }) => !isRecorded(records, { ...place, at }))] as const;
  });
  const isSame = kept.every(([key, list]) => list.length === marks.get(key)?.length);
  return isSame ? marks : new Map(kept.filter(([, list]) => list.length > 0));
}

/** A sender that sends an attempt again takes it back first: what comes after the void counts. */
const isTakenBack = (marks: readonly VoidMark[] = [], { attempt, at }: Place): boolean =>
  marks.some((mark) => attempt < mark.rank || (attempt === mark.rank && at < mark.at));

const toStepKey = ({ executionId, step }: Place): string => getStepKey(executionId, step ?? -1);

/** Leaves out texts, or the chunks of them that are over. */
const dropTexts = (texts: Entries<OpenText>, isOver: (text: OpenText, place: Place) => boolean): Entries<OpenText> =>
  texts.flatMap(([key, text]) => {
    const place = toTextPlace(text);
    const kept = dropChunks(text, (at) => isOver(text, { ...place, at }));
    return kept === undefined ? [] : [[key, kept] as const];
  });

/** Leaves out what is over for good; returns the same object if nothing is. */
export function dropOver(open: OpenItems, records: Records): OpenItems {
  const { items, texts } = open;
  if (items.size + texts.size + open.voids.size + open.textVoids.size === 0) return open;
  const voids = dropVoids(open.voids, records);
  const textVoids = dropVoids(open.textVoids, records);
  // A run inside a step does not say which step of the session's own agent that is: its time does.
  const isOver = (envelope: EventEnvelope, place: Place): boolean =>
    isRecorded(records, place) || (!isRoot(envelope) && (place.at < records.recordedAt || place.at <= records.endedAt));
  const keptItems = [...items].filter(([, item]) => !isOver(item, toItemPlace(item)));
  const keptTexts = dropTexts([...texts], (text, place) => isSpoken(records, text) || isOver(text.source, place));
  const isSame =
    keptItems.length === items.size &&
    keptTexts.length === texts.size &&
    keptTexts.every(([key, text]) => texts.get(key) === text) &&
    voids === open.voids &&
    textVoids === open.textVoids;
  return isSame ? open : { items: new Map(keptItems), texts: new Map(keptTexts), voids, textVoids };
}

/** The latest attempt at each step, and the time of its first item. */
function findAttempts(places: readonly Place[]): ReadonlyMap<string, VoidMark> {
  const attempts = new Map<string, VoidMark>();
  for (const place of places) {
    const before = attempts.get(toStepKey(place));
    const isFirst = before?.rank === place.attempt && place.at < before.at;
    if (before === undefined || place.attempt > before.rank || isFirst)
      attempts.set(toStepKey(place), { rank: place.attempt, at: place.at });
  }
  return attempts;
}

function findLastAnswers(texts: Entries<OpenText>): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  for (const [, text] of texts) {
    const key = toStepKey(toTextPlace(text));
    ranks.set(key, Math.max(ranks.get(key) ?? 0, toRank(text)));
  }
  return ranks;
}

/** Open envelopes and texts that are shown. */
export interface ShownItems {
  readonly items: readonly EventEnvelope[];
  readonly texts: readonly OpenText[];
}

function selectShown({ items, texts, voids, textVoids }: OpenItems): ShownItems {
  const isVoid = (place: Place): boolean => isTakenBack(voids.get(toStepKey(place)), place);
  const isTextVoid = (text: OpenText, place: Place): boolean =>
    textVoids.get(toStepKey(place))?.some(({ rank }) => toRank(text) <= rank) === true;
  const openItems = [...items.values()].filter((item) => !isVoid(toItemPlace(item)));
  const openTexts = dropTexts([...texts], (text, place) => isVoid(place) || isTextVoid(text, place));
  const own = openItems.filter(isRoot).map(toItemPlace);
  const places = [...own, ...openTexts.map(([, text]) => toTextPlace(text))].filter(({ step }) => step !== undefined);
  const attempts = findAttempts(places);
  const answers = findLastAnswers(openTexts);
  // A run inside a step does not say which step of the session's own agent that is: its attempt and its time do.
  const isInnerOver = (place: Place): boolean =>
    [...attempts.values()].some(({ rank, at }) => rank > place.attempt && at >= place.at) ||
    [...voids.values()].some((marks) => isTakenBack(marks, place));
  const isHidden = (envelope: EventEnvelope, place: Place): boolean =>
    place.attempt < (attempts.get(toStepKey(place))?.rank ?? 0) || (!isRoot(envelope) && isInnerOver(place));
  const isOld = (text: OpenText, place: Place): boolean => toRank(text) < (answers.get(toStepKey(place)) ?? 0);
  return {
    items: openItems.filter((item) => !isHidden(item, toItemPlace(item))),
    texts: dropTexts(openTexts, (text, place) => isHidden(text.source, place) || isOld(text, place)).map(([, text]) => text),
  };
}

const nothing: ShownItems = { items: [], texts: [] };
const shown = new WeakMap<OpenItems, ShownItems>();

/** Returns the open envelopes and texts that are shown. */
export function getShown(open: OpenItems): ShownItems {
  if (open.items.size + open.texts.size === 0) return nothing;
  const found = shown.get(open) ?? selectShown(open);
  shown.set(open, found);
  return found;
}
