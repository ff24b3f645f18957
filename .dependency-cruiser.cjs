// Who may import whom in src/, made from the table in scripts/floors.cjs.
// A rule is named kind:room, so that a breach says both what is wrong and where.
const { floors, hostRoom } = require('./scripts/floors.cjs');

/** @typedef {import('dependency-cruiser').IRegularForbiddenRuleType} Rule */
/** @typedef {import('./scripts/floors.cjs').Room} Room */

const oneOf = (/** @type {readonly string[]} */ names) => `(${names.join('|')})`;
const inRooms = (/** @type {readonly Room[]} */ rooms) => `^src/${oneOf(rooms.map(({ room }) => room))}/`;
const inAdaptersOf = (/** @type {readonly Room[]} */ rooms) => {
  const folders = rooms.filter(({ adapters }) => adapters.length > 0).map(({ room, adapters }) => `${room}/${oneOf(adapters)}`);
  return `^src/${oneOf(folders)}/`;
};

const testFile = String.raw`\.(test|test-d|examples)\.ts$`;
const roomDoor = String.raw`^src/[^/]+/index\.ts$`;
const adapterDoor = String.raw`${inAdaptersOf(floors)}index\.ts$`;
// What could not be found keeps the specifier as its path.
const unresolvedPath = String.raw`^\.\.?/(?!.*node_modules/)`;
const testingDoor = String.raw`^src/testing/(node/)?index\.ts$`;

/** @type {(name: string, comment: string, rule: Pick<Rule, 'from' | 'to'>) => Rule} */
const forbid = (name, comment, rule) => ({ name, comment, severity: 'error', ...rule });

/** @type {(room: Room) => Rule[]} */
function rulesOf({ room, floor, adapters }) {
  const here = `^src/${room}/`;
  const testsHere = `${here}.*${testFile}`;
  const ownAdapter = `${here}${oneOf(adapters)}/`;
  const core = adapters.length > 0 ? { path: here, pathNot: [testFile, ownAdapter] } : { path: here, pathNot: testFile };
  const others = floors.filter((other) => other.room !== room);
  const above = others.filter((other) => other.floor > floor);
  const beside = others.filter((other) => other.floor === floor);
  const rules = [
    forbid(`only-through-index:${room}`, 'Another room is entered through its index.ts only.', {
      from: { path: here },
      to: { path: inRooms(others), pathNot: [roomDoor, adapterDoor] },
    }),
  ];
  if (above.length > 0) {
    rules.push(
      forbid(`not-upward:${room}`, 'A room imports lower floors only, types included.', {
        from: { path: here, pathNot: testFile },
        to: { path: inRooms(above) },
      }),
      forbid(`tests-not-upward:${room}`, 'A test imports lower floors and testing/ only.', {
        from: { path: testsHere },
        to: { path: inRooms(above), pathNot: testingDoor },
      }),
    );
  }
  if (beside.length > 0) {
    rules.push(
      forbid(`not-sideways:${room}`, 'A room does not import its own floor, types included.', {
        from: core,
        to: { path: inRooms(beside) },
      }),
      forbid(`tests-not-sideways:${room}`, 'A test imports lower floors and testing/ only.', {
        from: { path: testsHere, ...(adapters.length > 0 && { pathNot: ownAdapter }) },
        to: { path: inRooms(beside), pathNot: testingDoor },
      }),
    );
  }
  if (room !== hostRoom) {
    rules.push(
      forbid(`no-npm-in-core:${room}`, 'Outside adapter folders a room imports no npm package and nothing outside src/.', {
        from: core,
        to: { pathNot: ['^src/', unresolvedPath], dependencyTypesNot: ['core'] },
      }),
      forbid(`no-node-in-core:${room}`, 'Outside adapter folders a room uses web-standard APIs only.', {
        from: core,
        to: { dependencyTypes: ['core'] },
      }),
      forbid(`no-foreign-adapter:${room}`, `Only ${hostRoom}/ and code outside src/ import adapters.`, {
        from: { path: here, ...(adapters.length > 0 && { pathNot: ownAdapter }) },
        to: { path: inAdaptersOf(others), pathNot: testingDoor },
      }),
    );
  }
  if (adapters.length > 0) {
    rules.push(
      forbid(`not-own-adapter:${room}`, 'A room does not know its adapters.', {
        from: { path: here, pathNot: ownAdapter },
        to: { path: ownAdapter },
      }),
      forbid(`adapter-sees-index:${room}`, "An adapter sees its room's index.ts only.", {
        from: { path: ownAdapter, pathNot: testFile },
        to: { path: here, pathNot: [roomDoor, `${here}$1/`] },
      }),
      forbid(`adapters-apart:${room}`, 'An adapter does not import another adapter.', {
        from: { path: ownAdapter },
        to: { path: inAdaptersOf(floors), pathNot: [`${here}$1/`, testingDoor] },
      }),
    );
  }
  return rules;
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...floors.flatMap(rulesOf),
    forbid('front-door-through-index', "The front door lists names of rooms' index.ts files only.", {
      from: { path: String.raw`^src/index\.ts$` },
      to: { pathNot: roomDoor },
    }),
    forbid('not-the-front-door', 'A room does not import the front door.', {
      from: { path: '^src/[^/]+/' },
      to: { path: String.raw`^src/index\.ts$` },
    }),
    forbid('not-found', 'The imported file does not exist.', {
      from: { path: '^src/' },
      to: { path: unresolvedPath, couldNotResolve: true },
    }),
    forbid('no-test-code', 'Only test files import test files.', {
      from: { path: '^src/', pathNot: testFile },
      to: { path: testFile },
    }),
    forbid('stays-in-src', 'Nothing in src/ imports the rest of the repository.', {
      from: { path: '^src/' },
      to: { path: '^(tests|examples|bench|studio|scripts|docs)/' },
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
