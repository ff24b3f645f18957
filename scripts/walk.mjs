// npm run walk: how much code one tool call crosses, counted by V8's precise coverage straight from src/.
// Prints three figures and fails if one is above its limit; --list also names the files and the frames.
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from './run.mjs';

const limits = { run: 60, session: 85, frames: 13 };
const source = pathToFileURL(`${root}/src/`).href;
const fromSource = (/** @type {string} */ file) => import(new URL(file, source).href);

const { AgentState, createAgent } = await fromSource('agent/index.ts');
const { createMemoryStore, createSessionRuntime } = await fromSource('sessions/index.ts');
const { scriptedModel } = await fromSource('testing/index.ts');
const { defineTool } = await fromSource('tools/index.ts');

const profiler = new Session();
profiler.connect();
await profiler.post('Profiler.enable');
await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/**
 * The files under src/ with a function that is entered while the work runs.
 * @param {() => Promise<unknown>} work
 */
async function listEnteredFiles(work) {
  // Taking the counts starts them anew.
  await profiler.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await profiler.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url, functions }) => url.startsWith(source) && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
    .map(({ url }) => relative(root, fileURLToPath(url)))
    .sort();
}

/** @type {string[]} */
let stack = [];
const look = (/** @type {boolean} */ needsApproval) =>
  defineTool({
    name: 'look',
    description: 'Looks something up.',
    input: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
    needsApproval,
    run: () => {
      Error.stackTraceLimit = 200;
      /** @type {{ stack?: string }} */
      const here = {};
      Error.captureStackTrace(here);
      stack = (here.stack ?? '').split('\n').slice(1);
      return 'seen';
    },
  });
const script = () => scriptedModel([{ toolCalls: [{ name: 'look', args: { what: 'it' } }] }, { text: 'Done.' }]);

/** @param {{ readonly status: string }} ended */
function assertCompleted({ status }) {
  if (status !== 'completed') throw new Error(`Expected a completed run, got ${status}.`);
}

async function walkRun() {
  const agent = createAgent({ model: script(), tools: { look: look(false) } });
  const state = AgentState.empty().withUserMessage('Look!');
  return listEnteredFiles(async () => assertCompleted(await agent.run(state)));
}

async function walkSession() {
  const agent = createAgent({ id: 'walker', model: script(), tools: { look: look(true) } });
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  const by = { id: 'ann', kind: 'user' };
  const { id } = await runtime.create({ owner: 'ann' }, { by });
  const files = await listEnteredFiles(async () => {
    const waiting = await runtime.send(id, 'Look!', { by });
    const [wait] = waiting.waitingFor;
    assertCompleted(await runtime.approve(id, wait, { by }));
  });
  await runtime.drain();
  return files;
}

/** The frames between the tool's first line and the loop, both left out, as V8 shows them. */
function listFrames() {
  const loop = stack.findIndex((frame) => frame.includes('/src/step-by-step/loop.ts'));
  return stack.slice(1, loop === -1 ? undefined : loop).map((frame) => frame.trim().replace(source, 'src/'));
}

const runFiles = await walkRun();
const frames = listFrames();
const walks = [
  { what: 'files entered by agent.run() with one tool call', found: runFiles, limit: limits.run },
  { what: 'files entered by a session: send, approval, completion', found: await walkSession(), limit: limits.session },
  { what: 'frames between the loop and the first line of the tool', found: frames, limit: limits.frames },
];
for (const { what, found, limit } of walks) {
  console.log(`${String(found.length).padStart(4)}  ${what} (at most ${String(limit)})`);
  if (process.argv.includes('--list')) for (const line of found) console.log(`        ${line}`);
  if (found.length > limit) process.exitCode = 1;
}
