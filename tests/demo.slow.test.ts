// Longer conversations with the demo, in processes that are stopped and killed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { leadsBeside, startDesk } from './support/desk.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepline-demo-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('a conversation', { timeout: 60_000 }, () => {
  it('goes on where it was stopped; another one can be begun, and both are listed', async () => {
    const db = join(folder, 'stopped', 'desk.db');
    const first = startDesk(db);
    await first.says('you ›');
    first.type('Create a lead for Lumen in program Gold');
    await first.says('Completed in step 3');
    expect(await first.quit()).toBe(0);

    const second = startDesk(db);
    await second.says('1 turn, 3 steps');
    await second.says('Lumen Optics is lead 4');
    second.type('Find Lumen');
    await second.says('lead 4 in Gold');
    expect(await second.quit()).toBe(0);
    expect(second.output()).not.toContain('interrupted');

    const third = startDesk(db, '--new');
    await third.says('you ›');
    third.type('Help');
    await third.says('Completed in step 1');
    third.type('/sessions');
    await third.says('▸ 1 completed');
    await third.says('2 completed, just now, 5 steps');
    third.type('/open 2');
    await third.says('2 turns, 5 steps');
    expect(await third.quit()).toBe(0);
    expect(third.output().match(/Goes on with/g)).toHaveLength(1);
  });

  it('asks again for an approval that waited when it was killed, and does what was approved once', async () => {
    const db = join(folder, 'waiting.db');
    const first = startDesk(db);
    await first.says('you ›');
    first.type('Delete the lead of Vela');
    await first.says('allow it?');
    await first.kill();
    expect(leadsBeside(db)).toEqual([1, 2, 3]);

    const second = startDesk(db);
    await second.says('It waits for approval of delete_program_lead.');
    await second.says('{"lead":3}  needs approval');
    await second.says('allow it?');
    second.type('e');
    await second.says('arguments ›');
    second.type('\u0015{"lead":"three"}');
    await second.says('The call is still waiting.');
    await second.says('allow it?');
    expect(leadsBeside(db)).toEqual([1, 2, 3]);
    second.type('y');
    await second.says('Done: lead 3 of Vela Health');
    await second.says('Completed in step 3');
    await second.kill();
    expect(leadsBeside(db)).toEqual([1, 2]);

    const third = startDesk(db);
    await third.says('1 turn, 3 steps.');
    await third.says('you ›');
    expect(await third.quit()).toBe(0);
    expect(third.output()).not.toContain('allow it?');
  });

  it('belongs to whoever opened the file first', async () => {
    const db = join(folder, 'taken.db');
    const older = startDesk(db);
    await older.says('you ›');
    const newer = startDesk(db);
    expect(await newer.exit).toBe(1);
    expect(newer.output()).toContain('Another partner desk (process ');
    older.type('Help');
    await older.says('Find Acme');
    expect(await older.quit()).toBe(0);
  });
});
