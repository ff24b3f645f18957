// Reads the imports of a source tree and lists those that break the rules of .dependency-cruiser.cjs.
import { cruise } from 'dependency-cruiser';
import rules from '../.dependency-cruiser.cjs';
import table from './floors.cjs';

/** @typedef {{ readonly rule: string, readonly why: string, readonly from: string, readonly to: string }} Breach */

/** True for a file in a module of the table or in the folder of entry points. No file stands directly in src/.
 * @type {(file: string) => boolean} */
function hasPlace(file) {
  const folder = /^src\/([^/]+)\//.exec(file)?.[1];
  return folder === table.entryFolder || table.modules.some(({ name }) => name === folder);
}

/** Cruises `src/` inside the given folder.
 * @type {(baseDir: string) => Promise<{ readonly moduleCount: number, readonly breaches: readonly Breach[] }>} */
export async function findBreaches(baseDir) {
  const { enhancedResolveOptions, ...options } = rules.options ?? {};
  const { output } = await cruise(
    ['src'],
    { ...options, baseDir, validate: true, ruleSet: { forbidden: rules.forbidden ?? [] } },
    /** @type {object} */ (enhancedResolveOptions),
  );
  if (typeof output === 'string') throw new TypeError('Expected the cruise as data.');
  const ours = output.modules.filter(({ source }) => source.startsWith('src/'));
  const why = new Map(rules.forbidden?.map(({ name, comment }) => [name ?? '', comment ?? '']));
  const misplaced = ours.filter(({ source }) => !hasPlace(source));
  return {
    moduleCount: ours.length,
    breaches: [
      ...misplaced.map(({ source }) => ({
        rule: 'unknown-module',
        why: 'Each module is listed in scripts/floors.cjs.',
        from: source,
        to: source,
      })),
      ...output.summary.violations.map(({ rule, from, to, cycle }) => ({
        rule: rule.name,
        why: why.get(rule.name) ?? '',
        from,
        to: cycle === undefined ? to : cycle.map(({ name }) => name).join(' → '),
      })),
    ],
  };
}
