// The command line tool as one file: the package has no dependencies, and one file starts faster than several.
import { chmodSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './run.mjs';
import { toNotices } from './third-party.mjs';

/** Writes the executable into a folder. Throws if it cannot be made.
 * @type {(folder: string) => Promise<void>} */
export async function bundleCli(folder) {
  const file = join(folder, 'cli/stepline.js');
  const bundle = await rolldown({
    cwd: root,
    input: { stepline: join(root, 'src/cli/stepline.ts') },
    platform: 'node',
    // A slow machine is not the bundle's fault.
    checks: { pluginTimings: false },
    tsconfig: join(root, 'tsconfig.build.json'),
    transform: { target: 'es2023' },
    treeshake: { moduleSideEffects: (id) => id.endsWith('src/cli/stepline.ts') },
  });
  const { output } = await bundle.write({
    file,
    format: 'esm',
    codeSplitting: false,
    banner: '#!/usr/bin/env node',
    comments: { jsdoc: false },
    minify: true,
    sourcemap: false,
  });
  await bundle.close();
  const moduleIds = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
  writeFileSync(join(dirname(file), 'THIRD-PARTY-LICENSES.txt'), toNotices(moduleIds));
  chmodSync(file, 0o755);
}
