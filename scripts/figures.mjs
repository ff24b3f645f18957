// npm run figures: how large the code is and how far one has to look, each figure with the limit that it must not exceed.
// --list <figure> names what a figure counts; --lower writes today's figures as the limits if they are lower. Limits are never raised.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findIdenticalRuns } from './figures/identical-runs.mjs';
import { findDeepImports, findDoubledNames, findUses, measurePorts, readPublicNames } from './figures/names.mjs';
import { countCodeLines, readSources } from './figures/sources.mjs';
import { walk } from './figures/walk.mjs';
import { root } from './run.mjs';

const limitsFile = join(root, 'scripts/figures/limits.json');
/** @type {Record<string, number>} */
const limits = JSON.parse(readFileSync(limitsFile, 'utf8'));

const sources = readSources();
const sessions = sources.filter(({ path }) => path.startsWith('src/sessions/'));
const sumLines = (/** @type {typeof sources} */ files) => files.reduce((sum, file) => sum + countCodeLines(file), 0);
const publicNames = readPublicNames();
const allNames = new Set([...publicNames.values()].flatMap((names) => [...names]));
const uses = findUses(allNames);
const unused = [...uses].filter(([, files]) => files.length === 0).map(([name]) => name);
const doubled = findDoubledNames(sources);
const [largestPort] = measurePorts(sources);
const { run, session, frames } = await walk();

/** @typedef {readonly string[] | number} Counted */
/** @type {readonly { readonly id: string, readonly what: string, readonly counted: Counted }[]} */
const figures = [
  { id: 'code-lines', what: 'code lines of src and page, without tests', counted: sumLines(sources) },
  { id: 'session-lines', what: 'code lines of sessions, with stores and engines', counted: sumLines(sessions) },
  { id: 'files', what: 'files of src and page, without tests', counted: sources.map(({ path }) => path) },
  { id: 'entry-points', what: 'entry points', counted: [...publicNames.keys()] },
  { id: 'public-names', what: 'public names', counted: [...uses].map(([name, files]) => `${name}: ${files.join(', ') || 'nowhere'}`) },
  { id: 'root-names', what: 'public names of the root', counted: [...(publicNames.get('.') ?? [])] },
  { id: 'unused-names', what: 'public names in no guide, example, page or test project', counted: unused },
  {
    id: 'doubled-names',
    what: 'names declared in two or more files',
    counted: doubled.map(([name, files]) => `${name}: ${files.join(', ')}`),
  },
  { id: 'identical-runs', what: 'runs of more than 12 lines that stand elsewhere too', counted: findIdenticalRuns(sources) },
  { id: 'run-files', what: 'files entered by agent.run() with one tool call', counted: run.files },
  { id: 'run-functions', what: 'functions entered by it', counted: run.functions },
  { id: 'session-files', what: 'files entered by a session: send, approval, completion', counted: session.files },
  { id: 'session-functions', what: 'functions entered by it', counted: session.functions },
  { id: 'frames', what: 'stack frames between the loop and the first line of a tool', counted: frames },
  { id: 'largest-port', what: `methods of the largest port, ${largestPort?.name ?? 'none'}`, counted: largestPort?.methods ?? [] },
  { id: 'deep-imports', what: 'private names that adapters import', counted: findDeepImports(sources) },
];

const listed = process.argv.includes('--list') ? process.argv[process.argv.indexOf('--list') + 1] : undefined;
for (const { id, what, counted } of figures) {
  const figure = typeof counted === 'number' ? counted : counted.length;
  const limit = limits[id];
  const isOver = limit === undefined || figure > limit;
  console.log(
    `${isOver ? 'OVER' : '    '} ${String(figure).padStart(6)}  ${what} (${id}, at most ${String(limit ?? 'nothing: no limit is set')})`,
  );
  if (listed === id && typeof counted !== 'number') for (const line of counted) console.log(`              ${line}`);
  if (isOver) process.exitCode = 1;
  limits[id] = Math.min(limit ?? figure, figure);
}
if (process.argv.includes('--lower')) writeFileSync(limitsFile, `${JSON.stringify(limits, undefined, 2)}\n`);
