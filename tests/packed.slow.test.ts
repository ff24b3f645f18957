// The package as a newcomer gets it: packed, installed into an empty project, with the code of docs/getting-started.md and of the README
// typed in.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import vm from 'node:vm';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entryPoints } from '../scripts/entry-points.mjs';
import { root } from '../scripts/run.mjs';
import { readSnippets } from '../scripts/snippets.mjs';

let project = '';

const [snippet] = readSnippets('README.md', readFileSync(join(root, 'README.md'), 'utf8'));
if (snippet?.output === undefined) throw new Error('The first ts block of README.md has no output.');
const quickStart = snippet.code;
const expectedEnd = snippet.output.text.trim();

// Without the cache of compiled files: it would keep those of every folder that this test ever made.
const env = { ...process.env, NODE_COMPILE_CACHE: undefined };

function runHere(command: string, ...args: readonly string[]): string {
  try {
    return execFileSync(command, args, { cwd: project, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    // The compiler says what is wrong on its output.
    return `${String((error as { stdout?: unknown }).stdout)}\n${String(error)}`;
  }
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'stepline-newcomer-'));
  const packed = execFileSync('npm', ['pack', '--pack-destination', project], { cwd: root, env, encoding: 'utf8' })
    .trim()
    .split('\n')
    .at(-1);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'newcomer', private: true, type: 'module' }));
  runHere('npm', 'install', '--no-audit', '--no-fund', `./${packed ?? ''}`);
  // Packing builds what is stale.
}, 300_000);

afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

describe('the page to get started with', () => {
  const pageFile = 'docs/getting-started.md';
  const blocks = readSnippets(pageFile, readFileSync(join(root, pageFile), 'utf8')).map(({ code, runs, output }) => ({
    file: /^\/\/ ([\w-]+\.ts)\n/.exec(code)?.[1] ?? '',
    ...{ code, runs, output: output?.text },
  }));

  it('is a file in every step, and each prints what the page says, in this order', () => {
    expect(blocks.map(({ file }) => file)).not.toContain('');
    for (const { file, code } of blocks) writeFileSync(join(project, file), code);
    for (const { file, output } of blocks.filter(({ runs }) => runs))
      expect(runHere(process.execPath, '--disable-warning=ExperimentalWarning', file)).toBe(output);
  });

  it('leaves a session that the command line explains', () => {
    const why = runHere(process.execPath, 'node_modules/.bin/stepline', 'why', 'ann-1', '--db', 'sessions.db');
    expect(why).toContain('Completed in step 2: the model answered and called no tools.');
  });
});

/** Entry points that cannot be loaded without their peer, and its folder. */
const neededPeers = new Map([
  ['stepline/react', 'react'],
  ['stepline/pusher-server', 'ws'],
  ['stepline/restate', '@restatedev'],
]);

describe('the first code block of the README', () => {
  it('brings nothing but the package itself', () => {
    expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toStrictEqual(['stepline']);
  });

  it('runs as JavaScript', () => {
    writeFileSync(join(project, 'quick.js'), quickStart);
    expect(runHere(process.execPath, 'quick.js')).toContain(expectedEnd);
  });

  it.each(entryPoints.map(({ name }) => name.replace(/^\./, 'stepline')))('lets a CommonJS file require %s', (name) => {
    const peer = neededPeers.get(name);
    if (peer !== undefined) cpSync(join(root, 'node_modules', peer), join(project, 'node_modules', peer), { recursive: true });
    writeFileSync(join(project, 'required.cjs'), `console.log(Object.keys(require('${name}')).length > 0 ? 'loaded' : 'empty');`);
    expect(runHere(process.execPath, 'required.cjs').trim()).toBe('loaded');
  });

  it('serves the page from its own files', () => {
    const code = [
      "import { createPageHandler } from 'stepline/page';",
      'const page = createPageHandler();',
      "const get = async (path) => (await page(new Request('http://localhost' + path))).text();",
      "const html = await get('/');",
      'const [, script] = /src="([^"]+)"/.exec(html);',
      'const [, style] = /stylesheet" href="([^"]+)"/.exec(html);',
      "console.log((await get(script)).includes('Jump to newest'), (await get(style)).includes('.tool-block'));",
    ];
    writeFileSync(join(project, 'page.js'), code.join('\n'));
    expect(runHere(process.execPath, 'page.js').trim()).toBe('true true');
  });

  it('runs as CommonJS', () => {
    const code = quickStart.replaceAll(/^import (.*) from (.*);$/gm, 'const $1 = require($2);');
    writeFileSync(join(project, 'quick.cjs'), `(async () => {\n${code}\n})();`);
    expect(runHere(process.execPath, 'quick.cjs')).toContain(expectedEnd);
  });

  it('compiles under strict TypeScript, and runs', () => {
    writeFileSync(join(project, 'quick.ts'), quickStart);
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false };
    const platform = { module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'], types: [], noEmit: true };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...strict, ...platform }, files: ['quick.ts'] }));
    expect(runHere(join(root, 'node_modules/.bin/tsc'), '-p', '.')).toBe('');
    expect(runHere(process.execPath, 'quick.ts')).toContain(expectedEnd);
  });

  it('lets a library export what it makes: all types have names', () => {
    const code = [
      "import { AgentBuilder, defineContext, createAgent, defineCapability, defineClientTool, defineHook, defineTool, priceTable, ToolUse, when } from 'stepline';",
      "import { compaction, selfCritique, subAgents } from 'stepline/capabilities';",
      "import { createChat, humanParticipant, llmParticipant, roundRobin } from 'stepline/chat';",
      "import { createCollaboration, humanCollaborator, llmCollaborator } from 'stepline/collaboration';",
      "import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';",
      "import { scriptedModel } from 'stepline/testing';",
      "const input = { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const;",
      "export const find = defineTool({ name: 'find', description: '', input, context: defineContext<{ db: string }>(), run: ({ id }) => ({ id }) });",
      "export const ask = defineClientTool({ name: 'ask', description: '', input });",
      "export const hook = defineHook({ name: 'vote', changes: ['votes', 'args'], beforeTool: () => undefined });",
      "export const capability = defineCapability({ name: 'finding', tools: { find }, hooks: [hook] });",
      "export const criterion = when('always', () => 'allow');",
      'export const prices = priceTable({});',
      'export const model = scriptedModel([]);',
      'export const agent = createAgent({ model, tools: { find }, output: input });',
      'export const built = AgentBuilder.base().withModel(model).withTools({ find }).build();',
      'export const use = new ToolUse({ model, tools: { find } });',
      "export const run = agent.start('x', { context: { db: '' } });",
      'export const { result } = run;',
      'export const folding = compaction({ model });',
      'export const critique = selfCritique({ model });',
      "export const helpers = subAgents({ agents: { helper: { agent: createAgent({ model }), description: '' } } });",
      'export const equipped = createAgent({ model, tools: { ask }, capabilities: [capability, helpers] });',
      "export const anna = llmParticipant({ name: 'anna', model });",
      "export const chat = createChat({ participants: [anna, humanParticipant({ name: 'ben' })], selector: roundRobin() });",
      "export const cleo = llmCollaborator({ name: 'cleo', model });",
      "export const collaboration = createCollaboration({ collaborators: [cleo, humanCollaborator({ name: 'dan' })] });",
      'export const store = createMemoryStore();',
      'export const runtime = createSessionRuntime({ agents: [createAgent({ model })], store });',
    ].join('\n');
    writeFileSync(join(project, 'library.ts'), code);
    const options = {
      strict: true,
      declaration: true,
      emitDeclarationOnly: true,
      outDir: 'types',
      module: 'nodenext',
      target: 'es2023',
      types: [],
    };
    writeFileSync(join(project, 'tsconfig.library.json'), JSON.stringify({ compilerOptions: options, files: ['library.ts'] }));
    expect(runHere(join(root, 'node_modules/.bin/tsc'), '-p', 'tsconfig.library.json')).toBe('');
  });

  it('runs as a bundle in a place that knows nothing of Node', async () => {
    mkdirSync(join(project, 'src'), { recursive: true });
    writeFileSync(join(project, 'src/main.js'), quickStart);
    await build({
      root: project,
      logLevel: 'error',
      configFile: false,
      build: { target: 'es2023', lib: { entry: 'src/main.js', formats: ['es'], fileName: 'bundle' }, minify: true },
    });
    const bundle = readFileSync(join(project, 'dist/bundle.js'), 'utf8');
    // Error messages name packages too; only statements count.
    expect(bundle).not.toMatch(/(?:^|[;}\n])(?:import|export)\b[^;()]*\bfrom\s*["']|^import\s*["']|\brequire\(|["']node:/m);
    expect(await printedInWorker(bundle)).toContain(expectedEnd);
  });
});

/** Runs code where there is the web platform and no `process`, `Buffer`, `require` or `global`; gives what it printed. */
async function printedInWorker(code: string): Promise<string> {
  const lines: string[] = [];
  const web = {
    AbortController,
    AbortSignal,
    crypto,
    DOMException,
    performance,
    queueMicrotask,
    structuredClone,
    setTimeout,
    clearTimeout,
  };
  const console = {
    log: (...words: readonly unknown[]) => lines.push(words.join(' ')),
    error: (...words: readonly unknown[]) => lines.push(words.join(' ')),
  };
  const worker = vm.createContext({ ...web, TextEncoder, TextDecoder, console });
  // The bundle awaits at its top level.
  await (vm.runInContext(`(async () => {${code}})()`, worker) as Promise<void>);
  return lines.join('\n');
}
