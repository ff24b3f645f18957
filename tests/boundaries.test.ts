import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Breach } from '../scripts/boundaries.mjs';
import { findBreaches } from '../scripts/boundaries.mjs';
import { root } from '../scripts/run.mjs';

// Inside the repository, so that npm packages resolve as they do for the real src/.
const cache = join(root, '.cache');

function plant(files: Readonly<Record<string, string>>): string {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'boundaries-'));
  for (const [path, code] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), code);
  }
  return folder;
}

const modules = {
  'src/entry/index.ts': "export { message } from '../messages/index.ts';",
  'src/entry/mcp.ts': "export { mcp } from '../tools/mcp/index.ts';",
  'src/lib/index.ts': "export { deep } from './deep.ts';",
  'src/lib/deep.ts': 'export const deep = 1;',
  'src/lib/bundled.ts': "import { sha256 } from '@noble/hashes/sha2.js';\nexport const bundled = sha256;",
  'src/messages/index.ts': "export { message } from './message.ts';",
  'src/messages/message.ts': "import { deep } from '../lib/index.ts';\nexport const message = deep;",
  'src/events/index.ts': 'export interface Event { readonly type: string }',
  'src/tools/index.ts': "export { tool } from './tool.ts';",
  'src/tools/tool.ts': [
    "import type { Emitted } from '../effects/index.ts';",
    "import { message } from '../messages/index.ts';",
    'export const tool: [number, Emitted?] = [message];',
  ].join('\n'),
  'src/tools/mcp/index.ts': "export { mcp } from './mcp.ts';",
  'src/continuation/index.ts': 'export const criterion = 1;',
  'src/testing/index.ts': "import { tool } from '../tools/index.ts';\nexport const fake = tool;",
  'src/tools/mcp/mcp.ts': [
    "import { readFile } from 'node:fs';",
    "import ts from 'typescript';",
    "import { tool } from '../index.ts';",
    "import { criterion } from '../../continuation/index.ts';",
    "import { deep } from '../../lib/index.ts';",
    'export const mcp = [readFile, ts, tool, criterion, deep];',
  ].join('\n'),
  'src/lib/deep.test.ts': [
    "import { it } from 'vitest';",
    "import { readFile } from 'node:fs';",
    "import { fake } from '../testing/index.ts';",
    "import { deep } from './deep.ts';",
    "import { support } from '../../tests/support/support.ts';",
    'it(String(fake), () => [deep, readFile, support]);',
  ].join('\n'),
  'tests/support/support.ts': 'export const support = 1;',
  'src/effects/index.ts': "import type { Event } from '../events/index.ts';\nexport type Emitted = Event;",
  'src/journal/index.ts': "import type { Emitted } from '../effects/index.ts';\nexport type Journaled = Emitted;",
  'src/hooks/index.ts': 'export const hook = 1;',
  'src/hooks/hook.test.ts': [
    "import { agent } from '../agent/index.ts';",
    "import { toolUse } from '../tool-use/index.ts';",
    "import { hook } from './index.ts';",
    'export const test = [agent, toolUse, hook];',
  ].join('\n'),
  'src/tool-use/index.ts': "import { hook } from '../hooks/index.ts';\nexport const toolUse = hook;",
  'src/agent/index.ts': "export { agent } from './agent.ts';",
  'src/agent/agent.ts': "import { toolUse } from '../tool-use/index.ts';\nexport const agent = toolUse;",
  'src/chat/index.ts': 'export const chat = 1;',
  'src/sessions/index.ts':
    "import type { Journaled } from '../journal/index.ts';\nexport const session: Journaled | undefined = undefined;",
  'src/sessions/embedded/running.ts': 'export const running = 1;',
  'src/cli/main.ts': "import { argv } from 'node:process';\nimport { mcp } from '../tools/mcp/index.ts';\nexport const main = [argv, mcp];",
};

// Each file holds one breach, and the rule that must name it.
const breaches: readonly (readonly [rule: string, file: string, code: string])[] = [
  ['sessions-core-apart', 'src/sessions/core/runs.ts', "import { running } from '../embedded/running.ts';\nexport const runs = running;"],
  ['not-upward:lib', 'src/lib/upward.ts', "import { message } from '../messages/index.ts';\nexport const upward = message;"],
  ['not-upward:lib', 'src/lib/upward-type.ts', "import type { Event } from '../events/index.ts';\nexport type Upward = Event;"],
  ['not-upward:lib', 'src/lib/upward-name.ts', "export { message } from '../messages/index.ts';"],
  ['not-upward:tools', 'src/tools/mcp/upward.ts', "import { fake } from '../../testing/index.ts';\nexport const upward = fake;"],
  ['tests-not-upward:lib', 'src/lib/upward.test.ts', "import { message } from '../messages/index.ts';\nexport const upward = message;"],
  ['tests-not-upward:hooks', 'src/hooks/upward.test.ts', "import { chat } from '../chat/index.ts';\nexport const upward = chat;"],
  ['only-through-index:hooks', 'src/hooks/deep.test.ts', "import { agent } from '../agent/agent.ts';\nexport const reached = agent;"],
  ['not-upward:hooks', 'src/hooks/upward.ts', "import { toolUse } from '../tool-use/index.ts';\nexport const upward = toolUse;"],
  ['tests-not-upward:journal', 'src/journal/upward.test.ts', "import { toolUse } from '../tool-use/index.ts';\nexport const up = toolUse;"],
  ['not-sideways:messages', 'src/messages/sideways.ts', "import type { Event } from '../events/index.ts';\nexport type Sideways = Event;"],
  [
    'tests-not-sideways:tools',
    'src/tools/sideways.test.ts',
    "import { criterion } from '../continuation/index.ts';\nexport const test = criterion;",
  ],
  ['only-through-index:events', 'src/events/deep-import.ts', "import { deep } from '../lib/deep.ts';\nexport const reached = deep;"],
  ['only-through-index:events', 'src/events/deep-import.test.ts', "import { deep } from '../lib/deep.ts';\nexport const reached = deep;"],
  ['no-npm-in-core:events', 'src/events/npm.ts', "import ts from 'typescript';\nexport const npm = ts;"],
  ['no-npm-in-core:events', 'src/events/npm-type.ts', "import type ts from 'typescript';\nexport type Npm = typeof ts;"],
  ['no-npm-in-core:events', 'src/events/npm-absent.ts', "import absent from 'package-that-is-not-there';\nexport const npm = absent;"],
  ['no-npm-in-core:events', 'src/events/bundled.ts', "import { sha256 } from '@noble/hashes/sha2.js';\nexport const npm = sha256;"],
  ['no-npm-in-core:lib', 'src/lib/npm.ts', "import ts from 'typescript';\nexport const npm = ts;"],
  ['no-node-in-core:events', 'src/events/node.ts', "import { readFile } from 'node:fs';\nexport const node = readFile;"],
  ['no-node-in-core:events', 'src/events/bare-node.ts', "import { readFile } from 'fs';\nexport const node = readFile;"],
  ['not-own-adapter:tools', 'src/tools/own-adapter.ts', "import { mcp } from './mcp/index.ts';\nexport const own = mcp;"],
  ['no-foreign-adapter:agent', 'src/agent/foreign.ts', "import { mcp } from '../tools/mcp/index.ts';\nexport const foreign = mcp;"],
  ['adapter-sees-index:tools', 'src/tools/mcp/deep-import.ts', "import { tool } from '../tool.ts';\nexport const reached = tool;"],
  [
    'adapters-apart:inference',
    'src/inference/ai-sdk/apart.ts',
    "import { mcp } from '../../tools/mcp/index.ts';\nexport const other = mcp;",
  ],
  ['entry-through-index', 'src/entry/messages.ts', "export { message } from '../messages/message.ts';"],
  ['entry-through-index', 'src/entry/tools.ts', "export { mcp } from '../tools/mcp/mcp.ts';"],
  ['entry-through-index', 'src/entry/again.ts', "export { message } from './index.ts';"],
  ['entry-through-index', 'src/entry/npm.ts', "export { version } from 'typescript';"],
  ['not-entry:agent', 'src/agent/entry.ts', "import { message } from '../entry/index.ts';\nexport const reached = message;"],
  ['not-entry:agent', 'src/agent/entry.test.ts', "import { message } from '../entry/index.ts';\nexport const reached = message;"],
  ['not-entry:tools', 'src/tools/mcp/entry.ts', "import { message } from '../../entry/index.ts';\nexport const reached = message;"],
  ['not-upward:effects', 'src/effects/upward.ts', "import { tool } from '../tools/index.ts';\nexport const upward = tool;"],
  ['not-upward:journal', 'src/journal/upward.ts', "import { session } from '../sessions/index.ts';\nexport const upward = session;"],
  ['not-sideways:journal', 'src/journal/sideways.ts', "import { hook } from '../hooks/index.ts';\nexport const sideways = hook;"],
  ['no-test-code', 'src/agent/test-code.ts', "import { helper } from './helper.test.ts';\nexport const test = helper;"],
  ['stays-in-src', 'src/agent/outside.test.ts', "import { helper } from '../../tests/helper.ts';\nexport const test = helper;"],
  ['no-test-support', 'src/agent/support.ts', "import { support } from '../../tests/support/support.ts';\nexport const used = support;"],
  ['not-found', 'src/agent/not-found.ts', "import { absent } from './absent.ts';\nexport const found = absent;"],
  ['no-circular', 'src/chat/one.ts', "import type { Two } from './two.ts';\nexport interface One { readonly two: Two }"],
  ['unknown-module', 'src/helpers/index.ts', 'export const helper = 1;'],
  ['unknown-module', 'src/stray.ts', 'export const stray = 1;'],
];
const alsoPlanted = {
  'src/chat/two.ts': "import type { One } from './one.ts';\nexport interface Two { readonly one: One }",
  'src/agent/helper.test.ts': 'export const helper = 1;',
  'tests/helper.ts': 'export const helper = 1;',
};

describe('boundaries', () => {
  const folders: string[] = [];
  let found: readonly Breach[] = [];

  beforeAll(async () => {
    folders.push(plant({ ...modules, ...alsoPlanted, ...Object.fromEntries(breaches.map(([, file, code]) => [file, code])) }));
    found = (await findBreaches(folders[0]!)).breaches;
  });
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it.each(breaches)('%s catches %s', (rule, file) => {
    expect(found.filter(({ from }) => from === file).map((breach) => breach.rule)).toContain(rule);
  });

  it('accuse no file that keeps the rules', () => {
    const guilty = new Set([...breaches.map(([, file]) => file), 'src/chat/two.ts']);
    expect(found.filter(({ from }) => !guilty.has(from))).toEqual([]);
  });

  it('let a clean tree pass, having read all of it', async () => {
    const folder = plant(modules);
    folders.push(folder);
    expect(await findBreaches(folder)).toEqual({
      moduleCount: Object.keys(modules).filter((file) => file.startsWith('src/')).length,
      breaches: [],
    });
  });
});
