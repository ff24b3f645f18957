// The command line tool on Postgres: reading, checking, and copying from SQLite and back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { putHold, readHolds } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createFakeHost } from '../cli/cli-stage.ts';
import { startDemo } from '../cli/demo.ts';
import { newSchema, usePool } from './place.ts';

const { pool } = usePool();
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepline-cli-'));
  const { worker, store } = await startDemo(join(folder, 'first.db'));
  await worker.drain({ timeoutMs: 1000 });
  await store.inbox.post({
    sessionId: 'order-1002',
    requestId: 'r',
    at: 1,
    body: '{"request":{"type":"resume"},"by":{"id":"a","kind":"user"}}',
  });
  await putHold(store.notes, { id: 'h', at: 1, reason: 'unpaid' });
  await store.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const { host, printed } = createFakeHost({ cwd: import.meta.dirname });
  const code = await runCli(args, host);
  return { code, out: printed.out.join(''), err: printed.err.join('') };
}

describe('the tool on Postgres', () => {
  test('copies a file into a schema and back, and every command says the same of all three', async () => {
    const [url, schema] = [inject('postgresUrl'), newSchema()];
    const [first, last] = [join(folder, 'first.db'), join(folder, 'last.db')];
    const there = await run('copy', '--from', first, '--to', url, '--schema', schema, '--json');
    expect(JSON.parse(there.out)).toMatchObject({ sessions: 4, mail: 1, holds: 1, failed: [] });
    const back = await run('copy', '--from', url, '--schema', schema, '--to', last, '--json');
    expect(back.out).toBe(there.out);
    const questions = [
      ['sessions', '--json'],
      ['why', 'order-1003', '--trace'],
      ['events', 'order-1002', '--json'],
      ['show', 'order-1002', '--json'],
    ];
    for (const question of questions) {
      const answers = [
        await run(...question, '--db', first),
        await run(...question, '--db', url, '--schema', schema),
        await run(...question, '--db', last),
      ];
      expect(answers.map(({ code }) => code)).toStrictEqual([0, 0, 0]);
      expect(answers[1]?.out).toBe(answers[0]?.out);
      expect(answers[2]?.out).toBe(answers[0]?.out);
    }
    const again = await run('copy', '--from', first, '--to', url, '--schema', schema);
    expect([again.code, again.err]).toStrictEqual([5, expect.stringContaining('The target has sessions already.')]);
    const store = sqliteStore({ path: last });
    expect((await readHolds(store.notes)).map(({ id }) => id)).toStrictEqual(['h']);
    await store.close();
  });

  test('creates no schema by accident, and shows no password', async () => {
    const [url, schema] = [inject('postgresUrl'), newSchema()];
    const { code, err } = await run('sessions', '--db', url, '--schema', schema);
    expect([code, err]).toStrictEqual([5, expect.stringContaining(schema)]);
    const { rows } = await pool().query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
    expect(rows).toStrictEqual([]);
    const doctor = await run('doctor', '--db', url, '--schema', schema);
    expect(doctor.code).toBe(1);
    expect(doctor.out + err).not.toContain('password');
  });

  test('says that a server cannot be reached, without the password', async () => {
    const { code, err } = await run('sessions', '--db', 'postgres://postgres:hunter2@127.0.0.1:1/app');
    expect(code).toBe(5);
    expect(err).toContain('127.0.0.1:1');
    expect(err).not.toContain('hunter2');
  });
});
