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
let packed = '';

const [snippet] = readSnippets('README.md', readFileSync(join(root, 'README.md'), 'utf8'));
if (snippet?.output === undefined) throw new Error('The first ts block of README.md has no output.');
const quickStart = snippet.code;
const expectedEnd = snippet.output.text.trim();

// Without the cache of compiled files: it would keep those of every folder that this test ever made.
const env = { ...process.env, NODE_COMPILE_CACHE: undefined };

const runHere = (command: string, ...args: readonly string[]): string => runIn(project, command, args);

function runIn(cwd: string, command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    // The compiler says what is wrong on its output.
    return `${String((error as { stdout?: unknown }).stdout)}\n${String(error)}`;
  }
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'stepline-newcomer-'));
  packed =
    execFileSync('npm', ['pack', '--pack-destination', project], { cwd: root, env, encoding: 'utf8' }).trim().split('\n').at(-1) ?? '';
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'newcomer', private: true, type: 'module' }));
  runHere('npm', 'install', '--no-audit', '--no-fund', `./${packed}`);
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
      "export const find = defineTool({ name: 'find', description: 'A tool.', input, context: defineContext<{ db: string }>(), run: ({ id }) => ({ id }) });",
      "export const ask = defineClientTool({ name: 'ask', description: 'A tool.', input });",
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
      "export const helpers = subAgents({ agents: { helper: { agent: createAgent({ model }), description: 'A tool.' } } });",
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

/** A project with a version of the AI SDK, and every function of ours that takes something of it or gives something to it. */
const aiProgram = (specification: 'V3' | 'V4'): string => `
import type { ModelMessage, UIMessage, UIMessageChunk } from 'ai';
import { createAgentUIStreamResponse, jsonSchema, readUIMessageStream, tool } from 'ai';
import { MockLanguageModel${specification} } from 'ai/test';
import { createAgent } from 'stepline';
import { aiSdk, aiSdkTools } from 'stepline/ai-sdk';
import { scriptedModel } from 'stepline/testing';
import { asAiSdkAgent, fromModelMessages, fromUIMessages, toModelMessages, toUIMessages, toUIMessageStream } from 'stepline/ui-message-stream';

const usage = { inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 2, text: 2, reasoning: 0 } };
const provided = new MockLanguageModel${specification}({
  doGenerate: async () => ({
    content: [{ type: 'text', text: 'Hello from a provider.' }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage,
    warnings: [],
  }),
});
console.log((await createAgent({ model: aiSdk(provided), streaming: false }).start('Hi.').result).text);

const weather = tool({
  description: 'Tells the weather.',
  inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
  execute: async ({ city }) => \`\${city} is sunny.\`,
});
const answers = () => scriptedModel([{ toolCalls: [{ name: 'weather', args: { city: 'Oslo' } }] }, 'Take no umbrella.']);
const ask = () => createAgent({ model: answers(), tools: aiSdkTools({ weather }) });
const { state } = await ask().start('Weather?').result;
const uiMessages: readonly UIMessage[] = toUIMessages(state.messages);
const modelMessages: readonly ModelMessage[] = toModelMessages(state.messages);
console.log(fromUIMessages([...uiMessages]).length, fromModelMessages([...modelMessages]).length);

const stream: ReadableStream<UIMessageChunk> = toUIMessageStream(ask().start('Weather?'));
let last: UIMessage | undefined;
for await (const message of readUIMessageStream({ stream })) last = message;
console.log(last?.parts.filter(({ type }) => type.startsWith('tool-') || type === 'dynamic-tool' || type === 'text').length);

const agent = asAiSdkAgent(createAgent({ model: answers(), tools: aiSdkTools({ weather }) }));
const asked: UIMessage[] = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Weather?' }] }];
try {
  const response = await createAgentUIStreamResponse({ agent, uiMessages: asked });
  console.log((await response.text()).includes('Take no umbrella.'));
} catch (error) {
  console.log(String(error));
}
`;

describe('a project with the AI SDK', () => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const needsSeven =
    'InvalidArgumentError: asAiSdkAgent() needs ai 7: the installed version cannot call it. Upgrade ai, or use toUIMessageStream(), which works with ai 6.';

  it.each([
    { version: '6.0.322', specification: 'V3', asAgent: needsSeven },
    { version: devDependencies['ai'] ?? '', specification: 'V4', asAgent: 'true' },
  ] as const)(
    'installs beside ai $version without flags, compiles and runs',
    ({ version, specification, asAgent }) => {
      const folder = join(project, `ai-${specification}`);
      mkdirSync(folder);
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'with-ai', private: true, type: 'module' }));
      const versions = ['zod', '@types/node', '@types/json-schema'].map((name) => `${name}@${devDependencies[name] ?? 'latest'}`);
      expect(runIn(folder, 'npm', ['install', '--no-audit', '--no-fund', `ai@${version}`, ...versions, `../${packed}`])).toContain('added');
      writeFileSync(join(folder, 'use.ts'), aiProgram(specification));
      const compilerOptions = { strict: true, skipLibCheck: false, module: 'nodenext', target: 'es2024', types: ['node'], noEmit: true };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
      expect(runIn(folder, join(root, 'node_modules/.bin/tsc'), ['-p', '.'])).toBe('');
      const lines = runIn(folder, process.execPath, ['--disable-warning=ExperimentalWarning', 'use.ts']).trim().split('\n');
      expect(lines).toEqual(['Hello from a provider.', '4 4', '2', asAgent]);
    },
    120_000,
  );
});
