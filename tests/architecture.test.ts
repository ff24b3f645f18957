import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../scripts/run.mjs';

const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
const pageSources = readdirSync(join(root, 'page'), { recursive: true, encoding: 'utf8' });
const named = [...new Set(Array.from(text.matchAll(/`([\w./-]+\.(?:ts|mjs|cjs))`/g), ([, path = '']) => path))];

describe('ARCHITECTURE.md', () => {
  it('names files', () => {
    expect(named.length).toBeGreaterThan(20);
  });

  it.each(named)('names %s, which exists', (path) => {
    const isThere =
      existsSync(join(root, path)) || [...sources, ...pageSources].some((source) => source === path || source.endsWith(`/${path}`));
    expect(isThere).toBe(true);
  });

  it('lists every module of src/', () => {
    const modules = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(modules.map(({ name }) => name).filter((name) => !text.includes(`\`${name}/\``))).toStrictEqual([]);
  });
});
