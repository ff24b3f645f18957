// docs/troubleshooting.md: each entry is checked against a stored session that has its fault.
// UPDATE_DOCS=1 npx vitest run tests/troubleshooting.test.ts writes the real outputs into the page.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { root } from '../scripts/run.mjs';
import { readSnippets } from '../scripts/snippets.mjs';
import { renewConsoleBlocks, settle } from './cli/console-blocks.ts';
import type { Scene } from './troubleshooting/scene.ts';
import { scenes } from './troubleshooting/scenes.ts';

const page = 'docs/troubleshooting.md';
const text = readFileSync(join(root, page), 'utf8');
const [, ...sections] = text.split(/^(?=## )/m);
const getHeading = (section: string): string => section.slice('## '.length, section.indexOf('\n'));
const entries = sections.map((section) => [getHeading(section), section] as const).filter(([heading]) => scenes[heading] !== undefined);
const isUpdate = process.env['UPDATE_DOCS'] === '1';
const made = new Map<string, string>();

/** Returns the section as the stored session gives it: console blocks, and the error of the application. */
async function renew(section: string, scene: Scene): Promise<string> {
  const printed = await renewConsoleBlocks(section, { ...scene, columns: 110 });
  const error = scene.error === undefined ? undefined : settle(scene.error, scene.path);
  return error === undefined ? printed : printed.replace(/^```text error\n.*?^```$/ms, () => `\`\`\`text error\n${error}\n\`\`\``);
}

const listOutputs = (section: string): string =>
  Array.from(section.matchAll(/^```(?:console|text error)\n(.*?)^```$/gms), ([, block = '']) => block.replaceAll(/\s+/g, ' ')).join(' ');

afterAll(() => {
  if (isUpdate)
    writeFileSync(
      join(root, page),
      [...made].reduce((all, [before, after]) => all.replace(before, () => after), text),
    );
});

test('every fault has an entry, in this order', () => {
  expect(entries.map(([heading]) => heading)).toStrictEqual(Object.keys(scenes));
});

describe.each(entries)('%s', (heading, section) => {
  test('shows what a stored session with this fault says', async () => {
    const scene = await scenes[heading]!();
    const real = await renew(section, scene);
    if (isUpdate) made.set(section, real);
    else expect(real).toBe(section);
  });

  test('names a line of that output', () => {
    const lines = Array.from(section.matchAll(/^\*\*The line:\*\* `([^`]+)`/gm), ([, line = '']) => line);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(listOutputs(section)).toContain(line);
  });

  test('has a symptom, a cure, and code that runs', () => {
    expect(section).toMatch(/^\*\*Symptom:\*\* /m);
    expect(section).toMatch(/^\*\*Cure:\*\* /m);
    expect(readSnippets(page, section).some(({ runs }) => runs)).toBe(true);
  });
});
