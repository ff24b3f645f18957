// The other end of the channel: what a child process has in common with its siblings.
// C1. A child ends when its supervisor asks for it or is gone, however the supervisor died; it never outlives it for long.
// C2. Ctrl-C reaches every process of a terminal. A child leaves it to its supervisor.
import type { ChildFailure, ChildSettings, FromChild, ToChild } from './messages.ts';

/** Longest time that a child takes to end. */
const longestEndMs = 6000;

/** Sends a message to the supervisor, if it is still there. */
export function sendToSupervisor(message: FromChild): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** Calls back for each message of the supervisor. */
export function onSupervisorMessage(listener: (message: ToChild) => void): void {
  // Holds: only a supervisor starts this process.
  process.on('message', (message) => listener(message as ToChild));
}

// A process has one supervisor, and ends once.
let end = async (): Promise<void> => undefined;
let isEnding = false;

async function leave(): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  setTimeout(() => process.exit(1), longestEndMs).unref();
  await end().catch(() => undefined);
  process.exit();
}

/** Tells the supervisor why this process cannot work, and ends it. */
export function fail(failure: Omit<ChildFailure, 'type'>): void {
  process.exitCode = 1;
  sendToSupervisor({ type: 'failed', ...failure });
  void leave();
}

/** Sets the work to be done before the process ends. */
export function beforeEnd(work: () => Promise<void>): void {
  end = work;
}

/** Settles with the settings. Call it first: from then on the process ends with its supervisor. */
export function receiveSettings<Settings extends ChildSettings>(): Promise<Settings> {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => void leave());
  return new Promise((resolve) => {
    onSupervisorMessage((message) => {
      if (message.type === 'end') void leave();
      // Holds: the supervisor sends the settings that this file expects.
      else if (message.type === 'start') resolve(message.settings as Settings);
    });
  });
}
