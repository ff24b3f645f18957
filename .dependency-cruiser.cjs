// Which file of src/ may import which, made from the table in scripts/floors.cjs.
// A rule is named kind:module, so that a breach says both what is wrong and where.
const { modules, callersInTests, adapterBases, hostModule, bundledPackages, entryFolder } = require('./scripts/floors.cjs');

/** @typedef {import('dependency-cruiser').IRegularForbiddenRuleType} Rule */
/** @typedef {import('./scripts/floors.cjs').Module} Module */

const oneOf = (/** @type {readonly string[]} */ names) => `(${names.join('|')})`;
const inModules = (/** @type {readonly Module[]} */ list) => `^src/${oneOf(list.map(({ name }) => name))}/`;
const inAdapters = (/** @type {readonly Module[]} */ list) => {
  const folders = list.filter(({ adapters }) => adapters.length > 0).map(({ name, adapters }) => `${name}/${oneOf(adapters)}`);
  return `^src/${oneOf(folders)}/`;
};

const testFile = String.raw`\.(test|test-d|examples)\.ts$`;
const moduleIndex = String.raw`${inModules(modules)}index\.ts$`;
const adapterIndex = String.raw`${inAdapters(modules)}index\.ts$`;
const testingIndex = String.raw`^src/testing/(node/)?index\.ts$`;
const testSupport = '^tests/support/';
const entryFiles = `^src/${entryFolder}/`;
const bundledFiles = bundledPackages.map((each) => `(^|/)node_modules/${each}/`);
// An import that was not found keeps the specifier as its path.
const unresolvedPath = String.raw`^\.\.?/(?!.*node_modules/)`;

/** @type {(name: string, comment: string, rule: Pick<Rule, 'from' | 'to'>) => Rule} */
const forbid = (name, comment, rule) => ({ name, comment, severity: 'error', ...rule });

/** @type {(module: Module) => Rule[]} */
function createRules({ name, floor, adapters }) {
  const here = `^src/${name}/`;
  const testsHere = `${here}.*${testFile}`;
  const ownAdapter = `${here}${oneOf(adapters)}/`;
  const base = adapterBases[name];
  const baseIndex = base === undefined ? [] : [String.raw`${here}${base}/index\.ts$`];
  const core = adapters.length > 0 ? { path: here, pathNot: [testFile, ownAdapter] } : { path: here, pathNot: testFile };
  const others = modules.filter((other) => other.name !== name);
  const above = others.filter((other) => other.floor > floor);
  const callers = callersInTests[name] ?? [];
  const beside = others.filter((other) => other.floor === floor);
  const rules = [
    forbid(`only-through-index:${name}`, 'Import another module through its index.ts only.', {
      from: { path: here },
      to: { path: inModules(others), pathNot: [moduleIndex, adapterIndex] },
    }),
    forbid(`not-entry:${name}`, 'A module does not import an entry point: those are for users.', {
      from: { path: here },
      to: { path: entryFiles },
    }),
  ];
  if (above.length > 0) {
    rules.push(
      forbid(`not-upward:${name}`, 'A module imports lower floors only, types included.', {
        from: { path: here, pathNot: testFile },
        to: { path: inModules(above) },
      }),
      forbid(`tests-not-upward:${name}`, 'A test imports lower floors, testing/ and the callers that floors.cjs lists for it only.', {
        from: { path: testsHere },
        to: { path: inModules(above.filter((other) => !callers.includes(other.name))), pathNot: testingIndex },
      }),
    );
  }
  if (beside.length > 0) {
    rules.push(
      forbid(`not-sideways:${name}`, 'A module does not import its own floor, types included.', {
        from: core,
        to: { path: inModules(beside) },
      }),
      forbid(`tests-not-sideways:${name}`, 'A test imports lower floors and testing/ only.', {
        from: { path: testsHere, ...(adapters.length > 0 && { pathNot: ownAdapter }) },
        to: { path: inModules(beside), pathNot: testingIndex },
      }),
    );
  }
  if (name !== hostModule) {
    rules.push(
      forbid(`no-npm-in-core:${name}`, 'Outside adapter folders a module imports no npm package and nothing outside src/.', {
        from: core,
        to: { pathNot: ['^src/', unresolvedPath, ...(name === 'lib' ? bundledFiles : [])], dependencyTypesNot: ['core'] },
      }),
      forbid(`no-node-in-core:${name}`, 'Outside adapter folders a module uses web-standard APIs only.', {
        from: core,
        to: { dependencyTypes: ['core'] },
      }),
      forbid(`no-foreign-adapter:${name}`, `Only ${entryFolder}/, ${hostModule}/ and code outside src/ import adapters.`, {
        from: { path: here, ...(adapters.length > 0 && { pathNot: ownAdapter }) },
        to: { path: inAdapters(others), pathNot: testingIndex },
      }),
    );
  }
  if (adapters.length > 0) {
    rules.push(
      forbid(`not-own-adapter:${name}`, 'A module does not import its own adapters.', {
        from: { path: here, pathNot: ownAdapter },
        to: { path: ownAdapter },
      }),
      forbid(`adapter-sees-index:${name}`, 'An adapter imports the index.ts of its module only.', {
        from: { path: ownAdapter, pathNot: testFile },
        to: { path: here, pathNot: [moduleIndex, `${here}$1/`, ...baseIndex] },
      }),
      forbid(`adapters-apart:${name}`, 'An adapter does not import another adapter, except the base that floors.cjs names.', {
        from: { path: ownAdapter },
        to: { path: inAdapters(modules), pathNot: [`${here}$1/`, testingIndex, ...baseIndex] },
      }),
    );
  }
  return rules;
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...modules.flatMap(createRules),
    forbid('entry-through-index', 'An entry point lists names of index.ts files of modules and adapters only.', {
      from: { path: entryFiles },
      to: { pathNot: [moduleIndex, adapterIndex] },
    }),
    forbid('not-found', 'The imported file does not exist.', {
      from: { path: '^src/' },
      to: { path: unresolvedPath, couldNotResolve: true },
    }),
    forbid('no-test-code', 'Only test files import test files.', {
      from: { path: '^src/', pathNot: testFile },
      to: { path: testFile },
    }),
    forbid('stays-in-src', 'Nothing in src/ imports the rest of the repository, except tests what is in tests/support/.', {
      from: { path: '^src/' },
      to: { path: '^(tests|examples|bench|chaos|scripts|docs)/', pathNot: testSupport },
    }),
    forbid('no-test-support', 'Only test files import tests/support/.', {
      from: { path: '^src/', pathNot: testFile },
      to: { path: testSupport },
    }),
    forbid('sessions-core-apart', 'The core of sessions, and stores, work without the runtime in this process.', {
      from: { path: '^src/sessions/(core|store)/', pathNot: testFile },
      to: { path: '^src/sessions/embedded/' },
    }),
    forbid('no-circular', 'Files do not import each other in a circle, types included.', {
      from: { path: '^src/' },
      to: { circular: true },
    }),
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: '(^|/)(node_modules|dist)/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'default'] },
  },
};
