import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { SessionStore } from '../index.ts';
import { leaseColumns, SessionDamagedError } from '../index.ts';
import { sqliteStore } from './index.ts';

const sessions = 50;
const changes = 1000;
const seed = 20_260_101;

/** The same numbers each time: mulberry32. */
function createRandom(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const random = createRandom(seed);
const ids = Array.from({ length: sessions }, (_, index) => `session-${index + 1} ü`);
const statuses = ['in_progress', 'waiting', 'failed'] as const;

async function fill(store: SessionStore): Promise<void> {
  await store.leases.join({ id: 'w', joinedAt: 1, agents: [] }, { room: 1 });
  for (const [index, id] of ids.entries()) {
    await store.log.write({
      ...{ sessionId: id, lease: { worker: 'w', fence: 0, type: 'free' }, keepsLease: true, after: 0 },
      header: {
        id,
        agentName: `agent-${index % 3}`,
        agentRelease: `release-${index % 2}`,
        format: 1,
        ...(index % 2 === 0 && { tenant: 'acme', owner: `owner-${index}` }),
        tags: ['red', 'blue', 'green'].slice(0, (index % 3) + 1),
        status: statuses[index % 3] ?? 'waiting',
        ...(index % 3 === 2 && { stopReason: 'error' as const }),
        isOpen: index % 3 === 0,
        ...(index % 5 === 0 && { wakeAt: 5000 + index }),
        createdAt: 1_700_000_000_000 + index,
        updatedAt: 1_700_000_100_000 + index,
        details: `{"title":"number ${index}"}`,
      },
      entries: Array.from({ length: 4 + random(8) }, (_, before) => ({
        n: before + 1,
        at: 1_700_000_000_000 + before,
        isSnapshot: before % 4 === 0,
        execution: 1,
        step: before,
        ...(before % 3 === 0 && { requestId: `request-${before}` }),
        body: JSON.stringify({ text: '🦊'.repeat(random(40)) }),
        ...(before % 2 === 0 && { events: '[1,2]', lastSeq: before * 2 }),
      })),
      effects: Array.from({ length: random(4) }, (_, k) => ({ key: `tool/${k}`, phase: 'result' as const, body: '{"ok":true}' })),
    });
    if (index % 10 === 0) await store.heads.quarantine(id, 'its state cannot be read');
  }
}

const outcome = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

/** All that can be read, by session and by the way of reading it. */
async function readAll(store: SessionStore): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const listed = (await store.heads.list({ limit: 1000 })).sessions;
  expect(listed.map(({ id }) => id).sort()).toStrictEqual([...ids].sort());
  const read = new Map<string, readonly unknown[]>();
  for (const id of ids) {
    read.set(id, [await outcome(store.log.load(id)), await outcome(store.log.entries(id)), listed.find((each) => each.id === id)]);
  }
  return read;
}

const tables = { sessions: 'num', heads: 'session', session_tags: 'session', log: 'session', effects: 'session', quarantine: 'session' };
type Table = keyof typeof tables;
type Value = string | number | null;

function changeValue(value: Value): Value | Uint8Array {
  if (random(10) === 0) return value === null ? 1 : null;
  if (value === null) return random(2) === 0 ? 'x' : random(1000);
  if (typeof value === 'number') return random(5) === 0 ? value + 1 + random(100) : Number(BigInt(value) ^ (1n << BigInt(random(53))));
  const bytes = Buffer.from(value);
  if (bytes.length === 0) return 'x';
  const at = random(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
  return bytes;
}

/** Columns of `heads` without a checksum: they say who may write, and which sessions can be claimed. */
const unchecked: readonly string[] = [...leaseColumns, 'tenant', 'wake_at'];

interface Damage {
  readonly what: string;
  /** False if it may be that nothing that is read has changed. */
  readonly isChecked: boolean;
  /** The number of the session that the row belongs to. */
  readonly owner: number;
  readonly repair: () => void;
}

/** Changes one column of one row, or takes the row away. Undefined if the change cannot be made. */
function damageSomething(raw: DatabaseSync): Damage | undefined {
  const table = (Object.keys(tables) as Table[])[random(6)] ?? 'log';
  const rows = raw.prepare(`SELECT rowid AS row_number, * FROM ${table}`).all() as Record<string, Value>[];
  const { row_number: rowNumber = 0, ...row } = rows[random(rows.length)] ?? {};
  const owner = Number(row[tables[table]]);
  const columns = Object.keys(row);
  const insert = raw.prepare(`INSERT INTO ${table} (rowid, ${columns.join()}) VALUES (?, ${columns.map(() => '?').join()})`);
  const insertRow = (): unknown => insert.run(rowNumber, ...Object.values(row));
  // A note that was taken away leaves no trace: it is found again when the session is read.
  if (random(6) === 0 && table !== 'quarantine') {
    raw.prepare(`DELETE FROM ${table} WHERE rowid = ?`).run(rowNumber);
    return { what: `row ${String(rowNumber)} of ${table} taken away`, isChecked: true, owner, repair: insertRow };
  }
  const column = columns[random(columns.length)] ?? '';
  const before = row[column] ?? null;
  const after = changeValue(before);
  // Bits are flipped in the bytes of a text, and it stays one.
  const place = after instanceof Uint8Array ? 'CAST(? AS TEXT)' : '?';
  const isKey = column === 'num' || (table === 'heads' && column === 'session');
  const moved = isKey && typeof after === 'number' ? after : rowNumber;
  try {
    if (raw.prepare(`UPDATE ${table} SET ${column} = ${place} WHERE rowid = ?`).run(after, rowNumber).changes !== 1) return undefined;
  } catch {
    return undefined;
  }
  const repair = (): void => {
    raw.prepare(`DELETE FROM ${table} WHERE rowid = ?`).run(moved);
    insertRow();
  };
  const what = `${column} of row ${String(rowNumber)} of ${table}: ${String(before)} to ${String(after)}`;
  return { what, isChecked: table !== 'heads' || !unchecked.includes(column), owner, repair };
}

const isDamage = (found: unknown, id: string): boolean =>
  found instanceof SessionDamagedError ? found.sessionId === id : (found as { damage?: string } | undefined)?.damage !== undefined;

test(`${changes} random changes of stored rows are told of the session that they belong to, and of no other`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-random-damage-'));
  const path = join(folder, 'sessions.db');
  const store = sqliteStore({ path });
  await fill(store);
  const raw = new DatabaseSync(path);
  raw.exec('PRAGMA synchronous = OFF');
  const before = await readAll(store);
  for (let done = 0; done < changes;) {
    const damage = damageSomething(raw);
    if (damage === undefined) continue;
    const after = await readAll(store);
    const victim = ids[damage.owner - 1] ?? '';
    for (const id of ids) {
      if (id !== victim) expect(after.get(id), `${damage.what}: session "${id}"`).toStrictEqual(before.get(id));
    }
    damage.repair();
    if (!damage.isChecked) continue;
    done += 1;
    const [was, is] = [before.get(victim) ?? [], after.get(victim) ?? []];
    const differing = is.filter((found, way) => JSON.stringify([found, String(found)]) !== JSON.stringify([was[way], String(was[way])]));
    expect(differing.length, `${damage.what}: nothing was told`).toBeGreaterThan(0);
    expect(
      differing.every((found) => isDamage(found, victim)),
      `${damage.what}: other data was given`,
    ).toBe(true);
  }
  expect(await readAll(store)).toStrictEqual(before);
  raw.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
