// Leaves out open envelopes that no longer count.
// O1. An item that is over never counts again, whatever comes later: so it may be dropped at any time.
// O2. What a later attempt or answer has replaced, a void took back, or a record contains, is over.
import type { EventEnvelope } from '../broadcasting/index.ts';
import type { ExecutionFacts } from './execution-facts.ts';
import { getStep, isRoot } from './fields.ts';
import type { OpenItems, VoidMark } from './open-items.ts';
import { getStepKey, toRank } from './open-items.ts';
import type { OpenText } from './open-text.ts';
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

/** Drops voids of steps that are recorded or have waited since: attempts are then counted from 1 again. */
function dropVoids(marks: ReadonlyMap<string, VoidMark>, records: Records): ReadonlyMap<string, VoidMark> {
  const kept = [...marks].filter(([key, { at }]) => {
    const slash = key.lastIndexOf('/');
    return !isRecorded(records, { executionId: key.slice(0, slash), step: Number(key.slice(slash + 1)), at });
  });
  return kept.length === marks.size ? marks : new Map(kept);
}

/** A sender that sends an attempt again takes it back first: what comes after the void counts. */
const isTakenBack = (mark: VoidMark | undefined, { attempt, at }: Place): boolean =>
  mark !== undefined && (attempt < mark.rank || (attempt === mark.rank && at < mark.at));

const toStepKey = ({ executionId, step }: Place): string => getStepKey(executionId, step ?? -1);

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

/** Returns the open envelopes that still count; the same object if all do. */
export function dropOver(open: OpenItems, records: Records): OpenItems {
  const { items, texts } = open;
  if (items.size + texts.size + open.voids.size + open.textVoids.size === 0) return open;
  const voids = dropVoids(open.voids, records);
  const textVoids = dropVoids(open.textVoids, records);
  const isGone = (place: Place): boolean => isRecorded(records, place) || isTakenBack(voids.get(toStepKey(place)), place);

  const openItems = [...items].filter(([, item]) => !isGone(toItemPlace(item)));
  const openTexts = [...texts].filter(([, text]) => {
    const place = toTextPlace(text);
    return !isGone(place) && toRank(text) > (textVoids.get(toStepKey(place))?.rank ?? 0);
  });
  const own = openItems.filter(([, item]) => isRoot(item)).map(([, item]) => toItemPlace(item));
  const places = [...own, ...openTexts.map(([, text]) => toTextPlace(text))].filter(({ step }) => step !== undefined);
  const attempts = findAttempts(places);
  const answers = findLastAnswers(openTexts);
  const isReplaced = (place: Place): boolean => place.attempt < (attempts.get(toStepKey(place))?.rank ?? 0);
  // A run inside a step does not say which step of the session's own agent that is: its attempt and its time do.
  const isInnerOver = (place: Place): boolean =>
    place.at < records.recordedAt ||
    place.at <= records.endedAt ||
    [...attempts.values()].some(({ rank, at }) => rank > place.attempt && at >= place.at) ||
    [...voids.values()].some((mark) => isTakenBack(mark, place));
  const isKept = (envelope: EventEnvelope, place: Place): boolean => !isReplaced(place) && (isRoot(envelope) || !isInnerOver(place));

  const keptItems = openItems.filter(([, item]) => isKept(item, toItemPlace(item)));
  const keptTexts = openTexts.filter(([, text]) => {
    const place = toTextPlace(text);
    return isKept(text.source, place) && toRank(text) >= (answers.get(toStepKey(place)) ?? 0);
  });
  const isSame = keptItems.length === items.size && keptTexts.length === texts.size && voids === open.voids && textVoids === open.textVoids;
  return isSame ? open : { items: new Map(keptItems), texts: new Map(keptTexts), voids, textVoids };
}
