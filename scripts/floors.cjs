// The floors of src/: the one table that the boundary rules and the lint rules are made from.
// A room imports lower floors only. Adapters are folders inside a room that may use Node or npm packages.

/** @typedef {{ readonly room: string, readonly floor: number, readonly adapters: readonly string[] }} Room */

/** @type {(room: string, floor: number, ...adapters: string[]) => Room} */
const room = (name, floor, ...adapters) => ({ room: name, floor, adapters });

/** @type {readonly Room[]} */
const floors = [
  room('lib', 0),
  room('messages', 1),
  room('errors', 1),
  room('events', 1),
  room('effects', 2),
  room('serialization', 3),
  room('inference', 3, 'ai-sdk'),
  room('tools', 3, 'mcp'),
  room('continuation', 3),
  room('step-by-step', 4),
  room('journal', 5, 'restate', 'dbos'),
  room('hooks', 5),
  room('tool-use', 6),
  room('sessions', 6, 'sqlite', 'postgres'),
  room('agent', 7),
  room('chat', 8),
  room('capabilities', 8, 'files', 'bash', 'definitions'),
  room('collaboration', 9),
  room('broadcasting', 10, 'sse', 'http', 'pusher', 'ag-ui', 'ui-message-stream'),
  room('telemetry', 10, 'otel'),
  room('ui', 11, 'react'),
  room('testing', 11, 'node'),
  room('cli', 12),
];

// The only room that may use Node, npm packages and adapters without being an adapter itself.
const hostRoom = 'cli';

module.exports = { floors, hostRoom };
