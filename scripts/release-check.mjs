// npm run release:check: the package as others get it. Packs it, installs it into an empty project, and runs the code of README.md and
// docs/getting-started.md on the oldest supported Node and on the one that the scripts use, and the README's in Vite, in a worker thread and
// in workerd. Checks files, provenance settings, licences and promises. --publish also fails on what only those who publish can fill in.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runInVite, runInWorkerd, runInWorkerThread } from './release/places.mjs';
import { createProject, runPage } from './release/project.mjs';
import { checkFiles, checkLicences, checkPromises, checkProvenance, listLicences, listOpenSettings } from './release/settings.mjs';
import { root, run } from './run.mjs';

/** @typedef {import('./release/project.mjs').Project} Project */
/** @typedef {(project: Project) => readonly string[] | Promise<readonly string[]>} Check */

const nodes = [join(root, 'tests/release/node_modules/.bin/node'), process.execPath];

/** @type {(node: string) => Promise<string>} */
const readVersion = async (node) => (await run(node, ['--version'])).output.trim();

/** @type {Map<string, Check>} */
const checks = new Map([['files in the package', checkFiles]]);
for (const node of nodes) {
  const version = await readVersion(node);
  for (const page of ['README.md', 'docs/getting-started.md'])
    checks.set(`${page} on Node ${version}`, async (project) => {
      rmSync(join(project.folder, 'sessions.db'), { force: true });
      return runPage(project, node, page);
    });
}
checks.set('README.md in a bundle of Vite', runInVite);
checks.set('README.md in a worker thread', runInWorkerThread);
checks.set('README.md in workerd', runInWorkerd);
checks.set('provenance settings', checkProvenance);
checks.set('licences', checkLicences);
checks.set('changelog, versions, security', checkPromises);

const project = createProject();
console.log(`Packed: ${String(project.files.length)} files, ${String(Math.round(project.bytes / 1000))} kB`);
try {
  for (const [name, check] of checks) {
    const problems = await check(project);
    console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${name}`);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(project.folder, { recursive: true, force: true });
}

console.log('\nLicences of what development needs:');
for (const line of listLicences()) console.log(line);
const open = listOpenSettings();
if (open.length > 0) console.log('\nFill in before you publish:');
for (const line of open) console.log(`- ${line}`);
if (open.length > 0 && process.argv.includes('--publish')) process.exitCode = 1;
