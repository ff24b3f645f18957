// Two builds of the sources in a folder: the present one, and a later one that writes one field more into everything that is stored.
// U1. The field is an addition, as releases of one schema may have: neither build knows the schema of the other by its number.
// U2. A patch whose place is not found fails: it must be written anew together with the code that it changes.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The field that the later build writes. */
export const addedField = 'addedLater';

interface Patch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const sourceFolder = fileURLToPath(new URL('../..', import.meta.url));

// A snapshot is written at every rest, so that both builds read and write many of them.
const bothPatches: readonly Patch[] = [
  {
    file: 'sessions/embedded/session-log.ts',
    find: 'const leastSnapshotBytes = 256 * 1024;',
    replace: 'const leastSnapshotBytes = 1;',
  },
  {
    file: 'sessions/embedded/session-log.ts',
    find: 'Math.max(leastSnapshotBytes, this.#snapshotBytes)',
    replace: 'leastSnapshotBytes',
  },
];

/** One patch for each kind of stored text. */
const laterPatches: Readonly<Record<string, Patch>> = {
  details: {
    file: 'sessions/core/session.ts',
    find: 'return JSON.stringify({ ...unknownFields, agent',
    replace: `return JSON.stringify({ ...unknownFields, ${addedField}: 'details', agent`,
  },
  entry: {
    file: 'sessions/embedded/session-log.ts',
    find: 'const text = writeBody(whole);',
    replace: `const text = writeBody({ ${addedField}: 'entry', ...whole });`,
  },
  event: {
    file: 'sessions/core/stored-events.ts',
    find: 'const own: Record<string, unknown> = {};',
    replace: `const own: Record<string, unknown> = { ${addedField}: 'event' };`,
  },
  // Its value changes with every step.
  state: {
    file: 'step-by-step/state-codec.ts',
    find: '    ...data.unknownFields,\n',
    replace: `    ...data.unknownFields,\n    ${addedField}: data.lastSeq,\n`,
  },
  change: {
    file: 'step-by-step/state-codec.ts',
    find: "changes['lastSeq'] = after.lastSeq;\n",
    replace: `changes['lastSeq'] = after.lastSeq;\n  changes['${addedField}'] = after.lastSeq;\n`,
  },
  effect: {
    file: 'journal/journal.ts',
    find: 'body: JSON.stringify(result)',
    replace: `body: JSON.stringify({ ${addedField}: 'effect', ...result })`,
  },
  openStep: {
    file: 'sessions/core/open-step.ts',
    find: 'body: JSON.stringify({ ...toPlace(place), items })',
    replace: `body: JSON.stringify({ ${addedField}: 'open step', ...toPlace(place), items: items.map((item) => ({ ${addedField}: 'item', ...item })) })`,
  },
  intent: { file: 'journal/journal.ts', find: "body: '{}'", replace: `body: '{"${addedField}":"intent"}'` },
  mail: {
    file: 'sessions/core/mail.ts',
    find: 'JSON.stringify({ request, by, traceparent })',
    replace: `JSON.stringify({ ${addedField}: 'mail', request, by, traceparent })`,
  },
  reply: {
    file: 'sessions/embedded/live-session.ts',
    find: 'JSON.stringify(toWire(error))',
    replace: `JSON.stringify({ ${addedField}: 'reply', ...toWire(error) })`,
  },
  hold: {
    file: 'sessions/embedded/hold-gate.ts',
    find: 'const body = JSON.stringify(hold);',
    replace: `const body = JSON.stringify({ ${addedField}: 'hold', ...hold });`,
  },
  worker: {
    file: 'sessions/embedded/worker.ts',
    find: 'return { ...readProcessIdentity(), id: this.#id,',
    replace: `return { ...{ ${addedField}: 'worker' }, ...readProcessIdentity(), id: this.#id,`,
  },
};

function applyPatch(folder: string, { file, find, replace }: Patch): void {
  const path = join(folder, 'src', file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(find)) throw new Error(`The later build cannot be made: src/${file} has no ${JSON.stringify(find)}.`);
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
}

function createBuild(folder: string, patches: readonly Patch[]): string {
  mkdirSync(folder);
  for (const name of ['src', 'chaos']) cpSync(join(sourceFolder, name), join(folder, name), { recursive: true });
  // The sources import what is bundled into the package.
  symlinkSync(join(sourceFolder, 'node_modules'), join(folder, 'node_modules'), 'dir');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  for (const patch of patches) applyPatch(folder, patch);
  return folder;
}

/** Creates both builds; returns their folders, the present one first. */
export const createBuilds = (folder: string): readonly [present: string, later: string] => [
  createBuild(join(folder, 'present'), bothPatches),
  createBuild(join(folder, 'later'), [...bothPatches, ...Object.values(laterPatches)]),
];
