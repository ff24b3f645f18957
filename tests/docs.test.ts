// README.md and docs/: links lead somewhere, the README's output and picture are those of its run, and every event is described.
// That every code block compiles and runs is checked by `npm run snippets`.
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toAnchor } from '../scripts/pages.mjs';
import { drawPicture, pictures } from '../scripts/picture.mjs';
import { root, run } from '../scripts/run.mjs';
import { readSnippets, replaceOutputs, trimOutput } from '../scripts/snippets.mjs';
import { readEventFields } from './support/event-fields.ts';
import { listUndescribedFields, readInterfaceFields } from './support/interface-fields.ts';
import { sourcePreload, toImport } from './support/source-preload.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'AGENTS.md',
  'skills/stepline/SKILL.md',
  ...globSync('docs/**/*.md', { cwd: root }),
];
const withoutCode = (text: string): string =>
  text.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]]/g, ''));

function findDeadLinks(page: string): readonly string[] {
  return [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(root, target))) return [`${link}: there is no ${target}`];
    if (anchor === undefined) return [];
    const anchors = [
      ...read(target)
        .replaceAll(/^```.*?^```$/gms, '')
        .matchAll(/^#+ (.+)$/gm),
    ].map(([, heading = '']) => toAnchor(heading));
    return anchors.includes(anchor) ? [] : [`${link}: ${target} has no heading for it`];
  });
}

describe('the pages', () => {
  it.each(pages)('%s has no dead link', (page) => {
    expect(findDeadLinks(page)).toEqual([]);
  });

  it.each(pages)('%s has code in fences that are checked', (page) => {
    const languages = [...read(page).matchAll(/^```(\w+)/gm)].map(([, language = '']) => language);
    expect(languages.filter((language) => !['ts', 'text', 'json', 'sh', 'console'].includes(language))).toEqual([]);
  });

  it('are all linked from the README', () => {
    const readme = read('README.md');
    expect(globSync('docs/*.md', { cwd: root }).filter((page) => !readme.includes(`](${page})`))).toEqual([]);
  });

  it('are all linked from another page, recipes too', () => {
    const linked = new Set(
      pages.flatMap((page) => [...read(page).matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) => normalize(join(dirname(page), link)))),
    );
    expect(globSync('docs/**/*.md', { cwd: root }).filter((page) => !linked.has(page))).toEqual([]);
  });

  it('name examples that exist, which begin with an agent and are numbered without a gap', () => {
    const examples = globSync('examples/*.ts', { cwd: root }).sort();
    expect(examples[0]).toBe('examples/01-agent.ts');
    expect(examples.map((file) => file.slice('examples/'.length, 'examples/'.length + 2))).toEqual(
      examples.map((_file, index) => String(index + 1).padStart(2, '0')),
    );
  });
});

describe('the README', () => {
  it('has at most 160 lines, and names the two commands', () => {
    const readme = read('README.md');
    expect(readme.split('\n').length - 1).toBeLessThanOrEqual(160);
    expect(readme).toMatch(/^npm start\b/m);
    expect(readme).toMatch(/^npm test\b/m);
  });

  it('shows what its code prints', async () => {
    const [first] = readSnippets('README.md', read('README.md'));
    mkdirSync(join(root, '.cache'), { recursive: true });
    writeFileSync(join(root, '.cache/readme.ts'), first?.code ?? '');
    const { output } = await run('node', ['--import', toImport(sourcePreload), '.cache/readme.ts']);
    expect(first?.output?.text).toBe(trimOutput(output));
  }, 30_000);
});

describe('the pictures', () => {
  it.each(pictures)(
    '$file shows the run of its code on $page',
    async (picture) => {
      const drawn = await drawPicture(picture, ['--import', toImport(sourcePreload)]);
      expect(read(picture.file), 'npm run snippets -- --update draws it again').toBe(drawn);
      expect(read(picture.page)).toContain(`](${picture.page === 'README.md' ? picture.file : picture.file.slice('docs/'.length)})`);
    },
    30_000,
  );
});

describe('an output on a page', () => {
  const page = ['```ts', 'code;', '```', '', 'It prints:', '', '```text output', 'old', '```', ''].join('\n');

  it('belongs to the ts block before it', () => {
    expect(readSnippets('a.md', page)).toMatchObject([{ line: 1, runs: true, code: 'code;\n', output: { text: 'old\n' } }]);
  });

  it('is replaced by what the block prints', () => {
    const [snippet] = readSnippets('a.md', page);
    expect(replaceOutputs(page, [{ output: snippet!.output!, real: trimOutput('\nnew  \n\n') }])).toBe(page.replace('old', 'new'));
  });

  it('is refused if no block that runs is before it', () => {
    expect(() => readSnippets('a.md', page.replace('```ts', '```ts no-run'))).toThrow('a.md:7: an output must follow a ts block that runs');
    expect(() => readSnippets('a.md', page + page.slice(page.indexOf('```text')))).toThrow('a.md:10');
  });
});

describe('docs/events.md', () => {
  const sections = new Map(
    read('docs/events.md')
      .split(/^###? /m)
      .map((section) => [section.slice(0, section.indexOf('\n')).replaceAll('`', ''), section]),
  );
  // A type that ends in ? is of a field that may be absent.
  const listFields = (heading: string): readonly string[] =>
    [...(sections.get(heading) ?? '').matchAll(/^\| `(\w+)` *\| (.+?) *\|/gm)].map(
      ([, field = '', type = '']) => `${field}${type.includes('?`') ? ' ?' : ''}${type.includes('or null') ? ' null' : ''}`,
    );
  const { common, events } = readEventFields();

  it('lists the fields of every event', () => {
    expect(common.length).toBeGreaterThan(5);
    expect([...listFields('Fields of every event')].sort()).toEqual([...common].sort());
  });

  it('describes every event, and none that does not exist', () => {
    expect(events.size).toBeGreaterThan(20);
    const described = [...sections.keys()].filter((heading) => /^[A-Z][a-z]+([A-Z][a-z]+)+$/.test(heading));
    expect(described.sort()).toEqual([...events.keys()].sort());
  });

  it.each([...events])('lists every field of %s', (name, fields) => {
    expect([...listFields(name)].sort()).toEqual([...fields].sort());
  });
});

describe('the text that an editor shows', () => {
  it.each([
    ['src/step-by-step/standard-criteria.ts', 'Limits'],
    ['src/tool-use/options.ts', 'ToolUseLimits'],
    ['src/tool-use/options.ts', 'ToolUseOptions'],
    ['src/agent/agent.ts', 'AgentOptions'],
    ['src/chat/conversation.ts', 'ConversationOptions'],
  ])('is there for every option in %s: %s', (file, name) => {
    expect(listUndescribedFields(file, name)).toEqual([]);
  });
});

describe('the options on a page', () => {
  const listOptions = (page: string, before: string): readonly string[] => {
    const [, rest = ''] = read(page).split(before);
    const [table = ''] = rest.trimStart().split(/\n\n/);
    return [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name).sort();
  };
  const readOptions = (...interfaces: readonly (readonly [file: string, name: string])[]): readonly string[] =>
    interfaces.flatMap(([file, name]) => readInterfaceFields(file, name)).sort();

  it('are those of createAgent()', () => {
    expect(listOptions('docs/agents.md', 'An unknown option is an error.')).toEqual(
      readOptions(['src/tool-use/options.ts', 'ToolUseOptions'], ['src/agent/agent.ts', 'AgentOptions']),
    );
  });

  it('are those of a run', () => {
    const [file, name] = ['src/step-by-step/run-options.ts', 'RunOptions'];
    expect(listOptions('docs/agents.md', 'Options of a run:')).toEqual(
      readInterfaceFields(file, name)
        .filter((each) => each !== 'inside')
        .toSorted(),
    );
  });

  it('are those of defineTool()', () => {
    const file = 'src/tools/tool-options.ts';
    const ofSchemas = ['inputJsonSchema', 'validate'];
    expect(listOptions('docs/tools.md', '## Options')).toEqual(
      [...readOptions([file, 'DescribedOptions'], [file, 'FunctionToolOptions']), ...ofSchemas].sort(),
    );
  });

  it('are those of limits', () => {
    expect(listOptions('docs/limits.md', 'has the totals of the whole conversation.')).toEqual(
      readOptions(['src/step-by-step/standard-criteria.ts', 'Limits'], ['src/tool-use/options.ts', 'ToolUseLimits']),
    );
  });
});
