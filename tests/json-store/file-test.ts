// The file under the store, in several processes.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openJsonFile } from './json-file.ts';

interface Counted {
  count: number;
}

// Holds: only this file writes such texts.
const parse = (text: string): Counted => JSON.parse(text) as Counted;

const open = (path: string) => openJsonFile<Counted>(path, { empty: { count: 0 }, parse, onLook: () => undefined });

/** Counts in this process, one change after the other. */
async function countTo(path: string, times: number): Promise<void> {
  const file = open(path);
  for (let done = 0; done < times; done += 1) await file.change((data) => (data.count += 1), undefined);
  await file.close();
}

// This file is also the process that counts.
const counting = process.argv[2];
if (counting !== undefined) await countTo(counting, 100);
else {
  const run = promisify(execFile);
  const script = fileURLToPath(import.meta.url);

  void test('loses no change of processes that write at once', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'json-file-'));
    context.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'count.json');
    await Promise.all([run(process.execPath, [script, path]), run(process.execPath, [script, path]), countTo(path, 100)]);
    assert.equal(await open(path).read(({ count }) => count), 300);
    assert.deepEqual(await readdir(folder), ['count.json']);
  });

  void test('takes over the lock of a process that is gone, whoever comes first', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'json-file-'));
    context.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'count.json');
    const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(gone, 'exit');
    await symlink(`${String(gone.pid)}-x`, `${path}.lock`);
    await Promise.all([countTo(path, 20), countTo(path, 20), countTo(path, 20)]);
    assert.equal(await open(path).read(({ count }) => count), 60);
    assert.deepEqual(await readdir(folder), ['count.json']);
  });
}
