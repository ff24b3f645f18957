// Whatever one changes in what is stored of one session: that session is told of, and all others are carried on.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Model } from '../../src/entry/index.ts';
import type { ModelOutcome } from '../../src/inference/index.ts';
import { createAgent, defineTool, Usage } from '../../src/entry/index.ts';
import { createSessionRuntime, SessionDamagedError } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { newProcess } from './stage.ts';

const by = { id: 'ann', kind: 'user' };
// Of different lengths: no change of one makes another of it.
const ids = Array.from({ length: 6 }, (_, index) => `session-${'x'.repeat(index + 1)}`);
const folder = mkdtempSync(join(tmpdir(), 'stepline-damage-'));
const original = join(folder, 'original.db');

/** Calls the tool twice, then answers; counts by what it reads. */
function modelThat(onAsked: (step: number) => void): Model {
  const ask: Model['generate'] = ({ messages }) => {
    const step = messages.filter(({ role }) => role === 'assistant').length + 1;
    onAsked(step);
    const call = { type: 'tool-call', toolCallId: `call-${step}`, toolName: 'look', args: { step } } as const;
    const outcome: ModelOutcome = {
      ok: true,
      response: {
        parts: step < 3 ? [call] : [{ type: 'text', text: 'Done.' }],
        usage: Usage.of({ input: 1, output: 1 }),
        finishReason: step < 3 ? 'tool_calls' : 'stop',
      },
    };
    return Promise.resolve(outcome);
  };
  return { provider: 'a', modelId: 'b', generate: ask, stream: ask };
}

const look = defineTool({ name: 'look', description: 'Looks.', input: { type: 'object', properties: {} }, run: () => 'seen' });
const agentThat = (onAsked: (step: number) => void = () => undefined) =>
  createAgent({ id: 'desk', model: modelThat(onAsked), tools: [look] });

// Each is left in the middle of its work.
beforeAll(async () => {
  const store = sqliteStore({ path: original });
  const asked: { leave?: () => void } = {};
  const agent = agentThat((step) => {
    if (step === 2) asked.leave?.();
  });
  const runtime = createSessionRuntime({ ...newProcess, agents: [agent], store });
  asked.leave = () => void runtime.drain();
  await Promise.all(ids.map((id) => runtime.create({ id, tenant: 'north', tags: ['red'] }, { by })));
  await Promise.allSettled(ids.map((id) => runtime.send(id, 'Go.', { by, requestId: `request of ${id}` })));
  await runtime.drain();
  await store.close();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const columns = {
  sessions: ['id', 'agent_id', 'tenant', 'tags', 'status', 'is_open', 'created_at', 'updated_at', 'details', 'sum'],
  heads: ['head', 'effects', 'sum'],
  session_tags: ['tag', 'sum'],
  log: ['n', 'at', 'is_snapshot', 'execution', 'step', 'request_id', 'last_seq', 'body', 'events', 'sum'],
} as const;
type Table = keyof typeof columns;

const changeValue = (value: unknown, salt: number): string | number => {
  // Far away, so that it stands in nobody's way.
  if (typeof value === 'number') return value + 1000 + (salt % 7);
  if (typeof value !== 'string' || value === '') return 1 + salt;
  const place = salt % value.length;
  return `${value.slice(0, place)}${String.fromCharCode(value.charCodeAt(place) ^ 1 || 65)}${value.slice(place + 1)}`;
};

interface Damage {
  readonly session: number;
  readonly table: Table;
  readonly column: number;
  readonly row: number;
  readonly salt: number;
  readonly isRemoval: boolean;
}

function inflict(path: string, { session, table, column, row, salt, isRemoval }: Damage): void {
  const database = new DatabaseSync(path);
  const key = table === 'sessions' ? 'num' : 'session';
  const rows = database.prepare(`SELECT rowid AS row, * FROM ${table} WHERE ${key} = ? ORDER BY rowid`).all(session + 1);
  const chosen = rows[row % rows.length];
  const name = columns[table][column % columns[table].length] ?? 'sum';
  const id = chosen?.['row'] ?? null;
  if (isRemoval) database.prepare(`DELETE FROM ${table} WHERE rowid = ?`).run(id);
  else database.prepare(`UPDATE ${table} SET ${name} = ? WHERE rowid = ?`).run(changeValue(chosen?.[name], salt), id);
  database.close();
}

const damages: fc.Arbitrary<Damage> = fc.record({
  session: fc.nat({ max: ids.length - 1 }),
  table: fc.constantFrom<Table>('sessions', 'heads', 'session_tags', 'log'),
  column: fc.nat({ max: 20 }),
  row: fc.nat({ max: 20 }),
  salt: fc.nat({ max: 10_000 }),
  isRemoval: fc.nat({ max: 5 }).map((often) => often === 0),
});

test('over 1,000 changes of stored rows, that session is told of, and all others are carried on', async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(damages, async (damage) => {
      const path = join(folder, `copy-${(number += 1)}.db`);
      copyFileSync(original, path);
      inflict(path, damage);
      const store = sqliteStore({ path });
      const runtime = createSessionRuntime({ ...newProcess, agents: [agentThat()], store, onProblem: () => undefined });
      const hurt = ids[damage.session];
      await runtime.ready;
      for (const id of ids.filter((each) => each !== hurt))
        expect(await runtime.resume(id, { by })).toMatchObject({ status: 'completed', text: 'Done.' });
      await expect(runtime.get(hurt ?? '')).rejects.toThrow(SessionDamagedError);
      const listed = (await runtime.list()).sessions;
      expect(listed.filter((each) => 'damage' in each).map(({ id }) => id)).toStrictEqual([hurt]);
      await runtime.drain();
      await store.close();
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    }),
    { numRuns: 1000 },
  );
}, 600_000);
