// How much code one tool call crosses, counted by V8's precise coverage straight from src/.
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from '../run.mjs';

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

/** @typedef {{ readonly files: readonly string[], readonly functions: readonly string[] }} Walk */

/** The files under src/, and the functions in them, that are entered while the work runs.
 * @type {(work: () => Promise<unknown>) => Promise<Walk>} */
async function listEntered(work) {
  // Taking the counts starts them anew.
  await profiler.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await profiler.post('Profiler.takePreciseCoverage');
  const functions = result
    .filter(({ url }) => url.startsWith(source))
    .flatMap(({ url, functions: all }) => {
      const path = relative(root, fileURLToPath(url));
      const entered = all.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
      return entered.map(({ functionName, ranges }) => `${path} ${functionName || `at ${String(ranges[0]?.startOffset)}`}`);
    })
    .sort();
  return { functions, files: [...new Set(functions.map((name) => name.slice(0, name.indexOf(' '))))] };
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
  return listEntered(async () => assertCompleted(await agent.run(state)));
}

async function walkSession() {
  const agent = createAgent({ id: 'walker', model: script(), tools: { look: look(true) } });
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  const by = { id: 'ann', kind: 'user' };
  const { id } = await runtime.create({ owner: 'ann' }, { by });
  const entered = await listEntered(async () => {
    const waiting = await runtime.send(id, 'Look!', { by });
    const [wait] = waiting.waitingFor;
    assertCompleted(await runtime.approve(id, wait, { by }));
  });
  await runtime.drain();
  return entered;
}

/** The frames between the tool's first line and the loop, both left out, as V8 shows them. */
function listFrames() {
  const loop = stack.findIndex((frame) => frame.includes('/src/step-by-step/loop.ts'));
  return stack.slice(1, loop === -1 ? undefined : loop).map((frame) => frame.trim().replace(source, 'src/'));
}

/** Walks both paths.
 * @type {() => Promise<{ readonly run: Walk, readonly session: Walk, readonly frames: readonly string[] }>} */
export async function walk() {
  const run = await walkRun();
  const frames = listFrames();
  return { run, session: await walkSession(), frames };
}
