// npm run size:parts: what the bundle of createAgent and aiSdk consists of, in kB, minified and gzipped.
// Prints the share of each module, then the size that remains when groups of features are removed one after the other. To remove a group,
// the bodies of its functions are emptied, so that everything only they use is dropped too. Such a bundle is only measured; it does not work.
import { isAbsolute, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { minifySync } from 'rolldown/utils';
import { root } from './run.mjs';

const sources = join(root, 'src');
const entry = '\0entry';
const entryCode = ['index.ts:createAgent', 'ai-sdk.ts:aiSdk']
  .map((each) => each.split(':'))
  .map(([file, name]) => `export { ${name} } from ${JSON.stringify(join(sources, 'entry', String(file)))};`)
  .join('\n');

/** Groups of features, each by the names of its files.
 * @type {readonly (readonly [name: string, files: RegExp])[]} */
const groups = [
  ['explanations', /^step-by-step\/explain-|^continuation\/(explain|describe-)|^errors\/advice|summarize-step/],
  ['stored form', /^step-by-step\/(state-codec|codec\/|read-)|^tool-use\/step-codec|stored-outcome|^serialization\/|read-part/],
  ['lines of events', /^events\/words\//],
  ['checks of options', /^lib\/(foreign-names|check-keys)|^tool-use\/options|describe-tool|hooks\/capability|tool-name/],
  ['JSON Schema', /validate-json|json-schema-problem/],
  ['waits for people', /decided|resume-step|step-by-step\/wait/],
  ['errors of providers', /ai-sdk\/(classify|provider-error|retry-after|context-overflow)/],
  ['fallback, time-outs, summing up', /inference\/(fallback|cool-down|timeouts|silence)|sum-up/],
  ['checks of answers', /inference\/(leak-guard|think-splitter|parse-outcome|value-form)|json-scanner/],
  ['canonical values, secrets', /^lib\/(canonical|redactor|secret)/],
  ['error policy', /^errors\/error-policy|handling-text/],
];

/** @typedef {{ readonly type: string, readonly start: number, readonly end: number, readonly body?: Node }} Node */

/** Lists the bodies of the outermost functions.
 * @type {(value: unknown) => Node[]} */
function listBodies(value) {
  if (Array.isArray(value)) return value.flatMap(listBodies);
  if (typeof value !== 'object' || value === null || !('type' in value)) return [];
  const node = /** @type {Node} */ (value);
  if (/Function/.test(node.type) && node.body) return [node.body];
  return Object.values(node).flatMap(listBodies);
}

/** @type {(code: string) => string} */
function emptyFunctions(code) {
  const bodies = listBodies(parseAst(code, { lang: 'ts' }).body);
  return bodies.reduceRight((text, { start, end }) => text.slice(0, start) + (text[start] === '{' ? '{}' : '0') + text.slice(end), code);
}

const measure = (/** @type {string} */ code) => gzipSync(code, { level: 9 }).length / 1000;

/** Bundles createAgent and aiSdk with some files emptied.
 * @type {(isEmptied?: (file: string) => boolean) => Promise<{ readonly size: number, readonly modules: Readonly<Record<string, { readonly code: string | null }>> }>} */
async function bundle(isEmptied = () => false) {
  const built = await rolldown({
    cwd: root,
    input: entry,
    external: (id) => id !== entry && !id.startsWith('.') && !isAbsolute(id),
    platform: 'neutral',
    tsconfig: join(root, 'tsconfig.build.json'),
    transform: { target: 'es2023' },
    treeshake: { moduleSideEffects: false, propertyReadSideEffects: false },
    plugins: [
      {
        name: 'parts',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? entryCode : null),
        transform: (code, id) => (isEmptied(relative(sources, id)) ? { code: emptyFunctions(code), map: null } : null),
      },
    ],
  });
  const whole = await built.generate({ format: 'esm', minify: true });
  const readable = await built.generate({ format: 'esm' });
  await built.close();
  return { size: measure(whole.output[0].code), modules: readable.output[0].modules };
}

const toModule = (/** @type {string} */ file) => (file.startsWith('inference/ai-sdk/') ? 'inference/ai-sdk' : String(file.split('/')[0]));
const print = (/** @type {string} */ name, /** @type {number} */ size) => console.log(`${size.toFixed(1).padStart(7)}  ${name}`);

const { size, modules } = await bundle();
/** @type {Map<string, number>} */
const lengths = new Map();
for (const [id, { code }] of Object.entries(modules)) {
  if (id === entry || code === null) continue;
  const name = toModule(relative(sources, id));
  const { length } = minifySync(id, code, { compress: false }).code;
  lengths.set(name, (lengths.get(name) ?? 0) + length);
}
const total = [...lengths.values()].reduce((sum, length) => sum + length, 0);
print('createAgent and aiSdk', size);
console.log('\nShare of each module:');
for (const [name, length] of [...lengths].sort(([, one], [, other]) => other - one)) print(name, (length / total) * size);

console.log('\nLeft without:');
for (const [index, [name]] of groups.entries()) {
  const taken = groups.slice(0, index + 1);
  const left = await bundle((file) => taken.some(([, files]) => files.test(file)));
  print(`… ${name}`, left.size);
}
