// What the site and llms.txt are made from: every page is listed once, and what coding agents read is true.
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { entryPoints } from '../scripts/entry-points.mjs';
import { toLlmsFull, toLlmsIndex } from '../scripts/llms.mjs';
import { mapProse, pageGroups, readPage, toAnchor } from '../scripts/pages.mjs';
import { root } from '../scripts/run.mjs';
import { checkLinks } from '../site/check-links.mjs';
import { readEntryPointSummaries } from '../site/api-pages.mjs';
import { toSitePath } from '../site/pages.mjs';
import { toSidebar } from '../site/sidebar.mjs';

const listed = pageGroups.flatMap(({ pages }) => pages);
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

describe('the list of pages', () => {
  it('has every page of docs/, and each once', () => {
    const all = globSync('docs/**/*.md', { cwd: root }).sort();
    expect(listed.filter((file) => file.startsWith('docs/')).toSorted()).toEqual(all);
    expect(new Set(listed).size).toBe(listed.length);
  });

  it.each(listed)('%s has a title and a sentence that says what it is about', (file) => {
    const { title, summary } = readPage(file);
    expect(title).not.toBe(file);
    expect(summary).toMatch(/^\S.{15,300}[.:]$/);
  });
});

describe('the site', () => {
  it('has every page in its sidebar, under an address of its own', () => {
    const links = toSidebar().flatMap(({ items }) => items.map(({ link }) => link));
    expect(new Set(links).size).toBe(links.length);
    for (const file of listed) expect(links).toContain(`/${toSitePath(file)!.replace(/(?:index)?\.md$/, '')}`);
  });

  it('has every file that a page links to', () => {
    const missing = listed.flatMap((file) => {
      const targets: string[] = [];
      mapProse(readPage(file).text, (prose) => {
        for (const [, link = ''] of prose.matchAll(/\]\(([^)#\s]+)/g))
          if (!/^[a-z]+:/.test(link)) targets.push(new URL(link, `file:///${file}`).pathname.slice(1));
        return prose;
      });
      return targets.filter((target) => toSitePath(target) === undefined).map((target) => `${file}: ${target}`);
    });
    expect(missing).toEqual([]);
  });

  it('describes every entry point in its API reference', () => {
    expect([...readEntryPointSummaries().keys()].sort()).toEqual(entryPoints.map(({ name }) => name.replace(/^\./, 'stepline')).sort());
  });

  it('gives headings the anchors that GitHub gives them', () => {
    expect(toAnchor('What `once` means: at most once')).toBe('what-once-means-at-most-once');
  });
});

describe('the check of the links of the built site', () => {
  const check = (links: readonly string[], base?: string): readonly string[] => {
    const folder = mkdtempSync(join(tmpdir(), 'stepline-links-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'tools.html'), '<h2 id="options">Options</h2>');
    writeFileSync(join(folder, 'index.html'), links.map((link) => `<a class="link" href="${link}">x</a>`).join(''));
    return checkLinks(folder, base).dead;
  };

  it('follows pages and headings', () => {
    expect(check(['/', '/tools', '/tools#options', 'https://example.com/nowhere'])).toEqual([]);
  });

  it('finds a page and a heading that are not there', () => {
    expect(check(['/missing', '/tools#missing'])).toEqual(['index.html: /missing', 'index.html: /tools#missing']);
  });

  it('takes the address under which the site will be served into account', () => {
    expect(check(['/docs/tools#options', '/docs/missing'], '/docs/')).toEqual(['index.html: /docs/missing']);
  });
});

describe('llms.txt', () => {
  it('lists the pages as they are', () => {
    expect(read('llms.txt'), 'npm run llms writes it').toBe(toLlmsIndex());
  });

  it('links only to files that are there', () => {
    const links = [...toLlmsIndex().matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  });

  it('has a full form with the text of every page', () => {
    for (const file of listed) expect(toLlmsFull()).toContain(`<!-- ${file} -->`);
  });
});

describe('the skill for coding agents', () => {
  const skill = read('skills/stepline/SKILL.md');

  it('has a name and a description at its top', () => {
    expect(skill).toMatch(/^---\nname: stepline\ndescription: .{50,1000}\n---\n/);
  });

  it('names only pages and entry points that exist', () => {
    const pages = [...skill.matchAll(/\bdocs\/[\w/-]+\.md/g)].map(([page]) => page);
    expect(pages.filter((page) => !existsSync(join(root, page)))).toEqual([]);
    const names = new Set(entryPoints.map(({ name }) => name.replace(/^\./, 'stepline')));
    expect([...skill.matchAll(/`(stepline\/[\w-]+)`/g)].map(([, name = '']) => name).filter((name) => !names.has(name))).toEqual([]);
  });

  it('is in the package, with AGENTS.md and llms.txt', () => {
    const { files } = JSON.parse(read('package.json')) as { files: readonly string[] };
    expect(files).toEqual(expect.arrayContaining(['AGENTS.md', 'llms.txt', 'skills', 'docs']));
  });
});
