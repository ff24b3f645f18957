// Nothing that is stored has any of a deleted session, or of an erased message: the bytes of all files are searched.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newPath, sqlitePlace } from './stage.ts';
import { deletions, leaveTraces, traces } from './traces.ts';

/** Names the files of a folder that have any of the words in them. */
function findFiles(folder: string, words: readonly string[]): readonly string[] {
  const hasOne = (name: string): boolean => {
    const bytes = readFileSync(join(folder, name));
    return words.some((word) => bytes.includes(word));
  };
  return readdirSync(folder).filter(hasOne);
}

describe('everything of a person is gone from the files', () => {
  test.each(Object.entries(deletions))('after %s', async (_, remove) => {
    const path = newPath();
    const left = await leaveTraces(sqlitePlace(path));
    expect(findFiles(dirname(path), traces)).not.toStrictEqual([]);
    await remove(left);
    expect(findFiles(dirname(path), traces)).toStrictEqual([]);
    await left.settle();
    expect(findFiles(dirname(path), traces)).toStrictEqual([]);
  });
});
