// The text of open steps that clients followed, against the text of the recorded steps.
// E1. Each attempt is read from its first character on, without a gap and without a double.
// E2. All of it is the beginning of the text that was recorded: the model gives the same answer at every attempt.
// E3. A later attempt comes after the end of the one before.
import type { OpenText } from '../../src/sessions/index.ts';
import type { Figure } from '../figures.ts';
import { none, info } from '../figures.ts';
import type { ReadSession } from './check-sessions.ts';
import { getSteps } from './check-sessions.ts';
import type { ClientRecord } from './orders.ts';
import { isSlow } from './plan.ts';
import { readClient } from './records.ts';

/** The texts that one client followed of one session, in the order in which they came. */
type FollowedTexts = readonly (OpenText | 'error')[];

function groupTexts(records: readonly ClientRecord[]): ReadonlyMap<string, FollowedTexts> {
  const groups = new Map<string, (OpenText | 'error')[]>();
  const add = (session: string, text: OpenText | 'error'): void => {
    groups.set(session, groups.get(session) ?? []);
    groups.get(session)?.push(text);
  };
  for (const line of records) {
    if (line.type === 'text') add(line.session, line.text);
    const [, session] = line.type === 'error' ? (/^open text of (\S+)$/.exec(line.where) ?? []) : [];
    // A reader that failed begins anew.
    if (session !== undefined) add(session, 'error');
  }
  return groups;
}

const toPlace = ({ step, attempt }: OpenText): string => `step ${step}, attempt ${attempt}`;

/** Describes the first thing that is wrong; undefined if nothing is. */
function findWrongText(texts: FollowedTexts, readStep: (step: number) => string): string | undefined {
  let open: { readonly place: OpenText; readonly text: string } | undefined;
  let last = { step: 0, attempt: 0 };
  for (const next of texts) {
    if (next === 'error') {
      open = undefined;
      last = { step: 0, attempt: 0 };
      continue;
    }
    const isSame = open !== undefined && toPlace(open.place) === toPlace(next);
    if (next.type !== 'piece') {
      if (!isSame && next.type === 'void') return `${toPlace(next)} is void, but was not open`;
      open = undefined;
      continue;
    }
    if (open !== undefined && !isSame) return `${toPlace(next)} began before the end of ${toPlace(open.place)}`;
    // A step that has waited may write more text under the same number.
    if (open === undefined && (next.step < last.step || (next.step === last.step && next.attempt < last.attempt)))
      return `${toPlace(next)} came after step ${last.step}, attempt ${last.attempt}`;
    const before = open?.text ?? '';
    if (next.offset !== before.length) return `${toPlace(next)} continues at ${next.offset} after ${before.length} characters`;
    const text = before + next.text;
    if (!readStep(next.step).startsWith(text)) return `${toPlace(next)} is ${JSON.stringify(text)}`;
    open = { place: next, text };
    last = { step: next.step, attempt: next.attempt };
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
    const problem = findWrongText(texts, (step) => steps[step - 1]?.outputMessages.map(({ text }) => text).join('') ?? '');
    return problem === undefined ? [] : [`${name}, ${session}: ${problem}`];
  });
  const count = (type: OpenText['type']): number =>
    followed.reduce((sum, { texts }) => sum + texts.filter((text) => text !== 'error' && text.type === type).length, 0);
  const seen = new Set(followed.map(({ session }) => session));
  return [
    none('followed texts of open steps with a gap, a double or wrong words', wrong),
    none(
      'slow sessions whose text no client saw',
      found.map(({ session }) => session.id).filter((id) => isSlow(id) && !seen.has(id)),
    ),
    info('  pieces of text that clients followed', count('piece')),
    info('  attempts that became void', count('void')),
  ];
}
