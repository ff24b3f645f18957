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
  room('serialization', 2),
  room('inference', 2, 'ai-sdk'),
  room('tools', 2, 'mcp'),
  room('continuation', 2),
  room('step-by-step', 3),
  room('hooks', 4),
  room('durable', 4, 'restate', 'dbos'),
  room('tool-use', 5),
  room('sessions', 5, 'sqlite', 'postgres'),
  room('agent', 6),
  room('chat', 7),
  room('capabilities', 7, 'files', 'bash', 'definitions'),
  room('collaboration', 8),
  room('broadcasting', 9, 'sse', 'http', 'pusher', 'ag-ui', 'ui-message-stream'),
  room('telemetry', 9, 'otel'),
  room('ui', 10, 'react'),
  room('testing', 10, 'node'),
  room('cli', 11),
];

// The only room that may use Node, npm packages and adapters without being an adapter itself.
const hostRoom = 'cli';

module.exports = { floors, hostRoom };
