// What each client was told, against what is stored.
import type { EmbeddedRuntime } from '../../src/sessions/index.ts';
import type { Figure } from '../figures.ts';
import { exactly, none, info } from '../figures.ts';
import type { ReadSession } from './check-sessions.ts';
import { fedTypes } from './follow.ts';
import type { ClientRecord } from './orders.ts';
import { readClient } from './records.ts';

type EventRecord = Extract<ClientRecord, { readonly type: 'event' }>;
type ResultRecord = Extract<ClientRecord, { readonly type: 'result' }>;

function groupBySession(records: readonly ClientRecord[]): ReadonlyMap<string, readonly EventRecord[]> {
  const groups = new Map<string, EventRecord[]>();
  for (const line of records) {
    if (line.type !== 'event') continue;
    const group = groups.get(line.session) ?? [];
    groups.set(line.session, group);
    group.push(line);
  }
  return groups;
}

/** Describes how the events that a client followed differ from the stored ones; undefined if they do not. */
function findDifference(followed: readonly EventRecord[], { events }: ReadSession): string | undefined {
  const gap = followed.findIndex(({ seq }, index) => seq !== index + 1);
  if (gap !== -1) return `event ${followed[gap]?.seq ?? 0} in place ${gap + 1}`;
  if (followed.length !== events.length) return `${followed.length} events of ${events.length}`;
  const other = followed.findIndex(({ hash }, index) => hash !== events[index]);
  return other === -1 ? undefined : `event ${other + 1} (${followed[other]?.event ?? ''}) differs from the stored one`;
}

function findWrongResults(records: readonly ClientRecord[], found: readonly ReadSession[]): readonly string[] {
  const results = new Map(records.flatMap((line): [string, ResultRecord][] => (line.type === 'result' ? [[line.session, line]] : [])));
  return found.flatMap(({ session }) => {
    const result = results.get(session.id);
    if (result === undefined) return [`${session.id}: no result`];
    const isRight =
      result.status === 'completed' && result.execution === 1 && result.text === session.text && session.text.startsWith('All steps');
    return isRight ? [] : [JSON.stringify(result)];
  });
}

/** Errors that a client may get: a server that is down for a while. */
const expectedCodes: readonly string[] = ['store-unavailable'];

type FedRecord = Extract<ClientRecord, { readonly type: 'fed' }>;

/** Reads from the feed what clients have followed of it. */
export async function readFeed(runtime: EmbeddedRuntime): Promise<readonly string[]> {
  const items: string[] = [];
  for await (const { cursor, sessionId, event } of runtime.feed({ types: fedTypes })) items.push(`${cursor} ${sessionId} ${event.seq}`);
  return items;
}

/** Describes how the feed that a client followed differs from the stored one; undefined if it does not. */
function findFeedDifference(lines: readonly ClientRecord[], feed: readonly string[]): string | undefined {
  const followed = lines
    .filter((line): line is FedRecord => line.type === 'fed')
    .map(({ cursor, session, seq }) => `${cursor} ${session} ${seq}`);
  const other = feed.findIndex((item, index) => item !== followed[index]);
  if (other !== -1) return `item ${other + 1} is ${followed[other] ?? 'missing'}, not ${feed[other] ?? ''}`;
  return followed.length === feed.length ? undefined : `${followed.length} items of ${feed.length}`;
}

export interface ClientCheck {
  readonly folder: string;
  readonly clients: readonly string[];
  /** The feed as it is stored. */
  readonly feed: readonly string[];
  /** True if the server was restarted. */
  readonly hasOutages: boolean;
}

export function checkClients(found: readonly ReadSession[], { folder, clients, feed, hasOutages }: ClientCheck): readonly Figure[] {
  const sessions = new Map(found.map((each) => [each.session.id, each]));
  const records = clients.map((name) => ({ name, lines: readClient(folder, name) }));
  const all = records.flatMap(({ lines }) => lines);
  let followed = 0;
  const wrong = records.flatMap(({ name, lines }) =>
    [...groupBySession(lines)].flatMap(([id, events]) => {
      followed += 1;
      const session = sessions.get(id);
      const difference = session === undefined ? 'unknown session' : findDifference(events, session);
      return difference === undefined ? [] : [`${name}, ${id}: ${difference}`];
    }),
  );
  const errors = all.flatMap((line) => (line.type === 'error' ? [line] : []));
  const isExpected = (code: string): boolean => hasOutages && expectedCodes.includes(code);
  return [
    exactly('sessions whose events clients followed, each by two', followed, found.length * Math.min(2, clients.length)),
    none('followed sessions with a gap, a double or another event than stored', wrong),
    info('  events that clients followed', all.filter(({ type }) => type === 'event').length),
    none(
      'clients that read another feed while it ran than is stored',
      records.flatMap(({ name, lines }) => findFeedDifference(lines, feed)?.replace(/^/, `${name}: `) ?? []),
    ),
    info('  items of the feed', feed.length),
    none('clients that got a wrong result, or none', findWrongResults(all, found)),
    none(
      'errors that clients got',
      errors.filter(({ code }) => !isExpected(code)).map(({ code, where, message }) => `${code}, ${where}: ${message}`),
    ),
    ...(hasOutages ? [info('  errors while the server was down', errors.filter(({ code }) => isExpected(code)).length)] : []),
    info('  approvals refused because another came first', all.filter(({ type }) => type === 'refused').length),
  ];
}
