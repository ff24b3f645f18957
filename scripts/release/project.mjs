// The package as others get it: packed, and installed into an empty project.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { root, run } from '../run.mjs';
import { readSnippets } from '../snippets.mjs';

/** @typedef {{ readonly folder: string, readonly files: readonly string[], readonly bytes: number }} Project */
/** @typedef {{ readonly file: string, readonly code: string, readonly runs: boolean, readonly output: string | undefined }} Program */

/** Packs the package and installs it.
 * @type {() => Project} */
export function createProject() {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-release-'));
  const packed = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], { cwd: root, encoding: 'utf8' });
  const [{ filename, files, size }] = Object.values(JSON.parse(packed.slice(packed.search(/^[[{]/m))));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'newcomer', private: true, type: 'module' }));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', `./${filename}`], { cwd: folder, stdio: 'pipe' });
  return { folder, files: files.map((/** @type {{ readonly path: string }} */ { path }) => path), bytes: size };
}

/** Reads the ts blocks of a page as JavaScript files, so that every Node runs them.
 * @type {(page: string) => readonly Program[]} */
export function readPrograms(page) {
  return readSnippets(page, readFileSync(join(root, page), 'utf8')).map(({ code, runs, line, output }) => {
    const file = /^\/\/ ([\w-]+)\.ts\b/.exec(code)?.[1] ?? `line-${String(line)}`;
    const { outputText } = ts.transpileModule(code, { compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext } });
    return { file: `${file}.js`, code: outputText.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"), runs, output: output?.text };
  });
}

/** Runs the programs of a page in order, and returns what went wrong.
 * @type {(project: Project, node: string, page: string) => Promise<readonly string[]>} */
export async function runPage({ folder }, node, page) {
  const programs = readPrograms(page);
  for (const { file, code } of programs) writeFileSync(join(folder, file), code);
  /** @type {string[]} */
  const problems = [];
  for (const { file, output: expected } of programs.filter(({ runs }) => runs)) {
    const { ok, output } = await run(node, ['--disable-warning=ExperimentalWarning', file], { cwd: folder, timeoutMs: 60_000 });
    if (!ok || (expected !== undefined && output.trim() !== expected.trim())) problems.push(`${page}, ${file}:\n${output}`);
  }
  return problems;
}
