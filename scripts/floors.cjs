// The modules of src/ and their floors: the one table that the boundary rules and the lint rules are made from.
// A module imports lower floors only. Adapters are folders inside a module that may use Node or npm packages.
// src/entry/ is not in the table: it stands above all modules, and lists what users import.

/** @typedef {{ readonly name: string, readonly floor: number, readonly adapters: readonly string[] }} Module */

/** @type {(name: string, floor: number, ...adapters: string[]) => Module} */
const at = (name, floor, ...adapters) => ({ name, floor, adapters });

/** @type {readonly Module[]} */
const modules = [
  at('lib', 0),
  at('messages', 1),
  at('errors', 1),
  at('events', 1),
  at('effects', 2),
  at('serialization', 3),
  at('inference', 3, 'ai-sdk'),
  at('tools', 3, 'mcp'),
  at('continuation', 3),
  at('step-by-step', 4),
  at('journal', 5, 'restate', 'dbos'),
  at('hooks', 5),
  at('tool-use', 6),
  at('agent', 7),
  at('chat', 8),
  at('capabilities', 8, 'files', 'bash', 'definitions'),
  at('collaboration', 9),
  at('sessions', 10, 'table', 'sqlite', 'postgres', 'restate'),
  at('broadcasting', 11, 'http', 'pusher', 'pusher-server', 'ag-ui', 'ui-message-stream'),
  at('telemetry', 11, 'otel'),
  at('ui', 12, 'react'),
  at('page', 12),
  at('testing', 12, 'node'),
  at('cli', 13),
];

// Hooks are called by modules above theirs, and what a hook does to a run shows only there; a state is kept by sessions above.
// So the tests of a module listed here, and nothing else of it, may also import the callers named.
/** @type {Readonly<Record<string, readonly string[]>>} */
const callersInTests = { hooks: ['tool-use', 'agent'], agent: ['sessions'] };

// Handlers of other protocols are made of the same parts as the one of this adapter: what they need is in its index.ts, and no other adapter
// may be imported by the ones beside it. Stores that keep sessions in tables are made of the one table store.
/** @type {Readonly<Record<string, string>>} */
const adapterBases = { broadcasting: 'http', sessions: 'table' };

// The only module that may use Node, npm packages and adapters without being an adapter itself.
const hostModule = 'cli';

// Packages that the build puts into dist/, so that the package needs no other one. Only lib/ imports them.
const bundledPackages = ['@noble/hashes'];

// One file per public entry point.
const entryFolder = 'entry';

module.exports = { modules, callersInTests, adapterBases, hostModule, bundledPackages, entryFolder };
