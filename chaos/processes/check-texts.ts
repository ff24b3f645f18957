// What clients followed of open steps, against the recorded steps.
// E1. Each attempt is read from its first character on, without a gap and without a double.
// E2. All of it is the beginning of the text that was recorded: the model gives the same answer at every attempt.
// E3. A later attempt comes after the end of the one before.
// E4. The events of an attempt come in the order of their indexes, each once.
import type { OpenStepItem, OpenStepPlace } from '../../src/sessions/index.ts';
import type { Figure } from '../figures.ts';
import { none, info } from '../figures.ts';
import type { ReadSession } from './check-sessions.ts';
import { getSteps } from './check-sessions.ts';
import type { ClientRecord } from './orders.ts';
import { isSlow } from './plan.ts';
import { readClient } from './records.ts';

/** Items that one client followed of one session, in the order in which they came. */
type FollowedItems = readonly (OpenStepItem | 'error')[];

function groupTexts(records: readonly ClientRecord[]): ReadonlyMap<string, FollowedItems> {
  const groups = new Map<string, (OpenStepItem | 'error')[]>();
  const add = (session: string, text: OpenStepItem | 'error'): void => {
    groups.set(session, groups.get(session) ?? []);
    groups.get(session)?.push(text);
  };
  for (const line of records) {
    // The client was killed, and began anew.
    if (line.type === 'started') for (const session of groups.keys()) add(session, 'error');
    if (line.type === 'open') add(line.session, line.item);
    const [, session] = line.type === 'error' ? (/^open step of (\S+)$/.exec(line.where) ?? []) : [];
    // A reader that failed begins anew.
    if (session !== undefined) add(session, 'error');
  }
  return groups;
}

const describePlace = ({ step, afterEntry, attempt }: OpenStepPlace): string =>
  `step ${step} after entry ${afterEntry}, attempt ${attempt}`;

const isEarlier = (one: OpenStepPlace, other: OpenStepPlace): boolean =>
  one.afterEntry < other.afterEntry || (one.afterEntry === other.afterEntry && one.attempt < other.attempt);

/** The attempt that a client reads. */
interface OpenAttempt {
  readonly place: OpenStepPlace;
  index: number;
  answer: number;
  text: string;
}

/** Adds an item to the attempt. Describes what is wrong with it; undefined if nothing is. */
function addItem(open: OpenAttempt, next: OpenStepItem, readStep: (step: number) => string): string | undefined {
  const place = describePlace(next);
  if (next.type === 'event') {
    if (next.index <= open.index) return `${place} has event ${next.index} behind event ${open.index}`;
    open.index = next.index;
  }
  if (next.type !== 'text') return undefined;
  if (next.answer !== open.answer) Object.assign(open, { answer: next.answer, text: '' });
  if (next.offset !== open.text.length) return `${place} continues at ${next.offset} after ${open.text.length} characters`;
  open.text += next.text;
  return readStep(next.step).startsWith(open.text) ? undefined : `${place} is ${JSON.stringify(open.text)}`;
}

/** Describes the first thing that is wrong; undefined if nothing is. */
function findWrongItem(items: FollowedItems, readStep: (step: number) => string): string | undefined {
  let open: OpenAttempt | undefined;
  let last: OpenStepPlace | undefined;
  for (const next of items) {
    if (next === 'error') {
      [open, last] = [undefined, undefined];
      continue;
    }
    const isSame = open !== undefined && describePlace(open.place) === describePlace(next);
    if (next.type === 'void' || next.type === 'recorded') {
      if (!isSame && next.type === 'void') return `${describePlace(next)} is void, but was not open`;
      if (next.type === 'recorded' || next.answer === undefined) open = undefined;
      continue;
    }
    if (open !== undefined && !isSame) return `${describePlace(next)} began before the end of ${describePlace(open.place)}`;
    if (open === undefined && last !== undefined && isEarlier(next, last))
      return `${describePlace(next)} came after ${describePlace(last)}`;
    open ??= { place: next, index: 0, answer: 0, text: '' };
    last = next;
    const problem = addItem(open, next, readStep);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export function checkTexts(
  found: readonly ReadSession[],
  { folder, clients }: { readonly folder: string; readonly clients: readonly string[] },
): readonly Figure[] {
  const followed = clients.flatMap((name) =>
    [...groupTexts(readClient(folder, name))].map(([session, texts]) => ({ name, session, texts })),
  );
  const sessions = new Map(found.map(({ session }) => [session.id, session]));
  const wrong = followed.flatMap(({ name, session, texts }) => {
    const known = sessions.get(session);
    const steps = known === undefined ? [] : getSteps(known);
    const problem = findWrongItem(texts, (step) => steps[step - 1]?.outputMessages.map(({ text }) => text).join('') ?? '');
    return problem === undefined ? [] : [`${name}, ${session}: ${problem}`];
  });
  const count = (type: OpenStepItem['type']): number =>
    followed.reduce((sum, { texts }) => sum + texts.filter((text) => text !== 'error' && text.type === type).length, 0);
  const seen = new Set(followed.map(({ session }) => session));
  return [
    none('followed open steps with a gap, a double or wrong words', wrong),
    none(
      'slow sessions whose text no client saw',
      found.map(({ session }) => session.id).filter((id) => isSlow(id) && !seen.has(id)),
    ),
    info('  pieces of text that clients followed', count('text')),
    info('  events of open steps that clients followed', count('event')),
    info('  attempts that became void', count('void')),
  ];
}
