// The other end of the channel: what a child process has in common with its siblings.
// C1. A child ends when its supervisor asks for it or is gone, however the supervisor died; it never outlives it for long.
// C2. Ctrl-C reaches every process of a terminal. A child leaves it to its supervisor.
import type { ChildFailure, ChildSettings, FromChild, ToChild } from './messages.ts';

/** Longest time that a child takes to end. */
const longestEndMs = 6000;

/** The supervisor, as its child sees it. */
export interface SupervisorChannel<Settings> {
  readonly settings: Promise<Settings>;
  send(message: FromChild): void;
  onMessage(listener: (message: ToChild) => void): void;
  /** Sets the work to be done before this process ends. */
  beforeEnd(work: () => Promise<void>): void;
  /** Reports why this process cannot work, and ends it. */
  fail(failure: Omit<ChildFailure, 'type'>): void;
}

/** Joins the supervisor. Call it first: from then on this process ends with it. */
export function joinSupervisor<Settings extends ChildSettings>(): SupervisorChannel<Settings> {
  let end = async (): Promise<void> => undefined;
  let isEnding = false;

  async function leave(): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    setTimeout(() => process.exit(1), longestEndMs).unref();
    await end().catch(() => undefined);
    process.exit();
  }
  const send = (message: FromChild, afterwards = (): void => undefined): void => {
    if (process.connected) process.send?.(message, undefined, undefined, afterwards);
    else afterwards();
  };
  const onMessage = (listener: (message: ToChild) => void): void => {
    // Holds: only a supervisor starts this process.
    process.on('message', (message) => listener(message as ToChild));
  };

  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => void leave());
  const settings = new Promise<Settings>((resolve) => {
    onMessage((message) => {
      if (message.type === 'end') void leave();
      // Holds: the supervisor sends the settings that this file expects.
      else if (message.type === 'start') resolve(message.settings as Settings);
    });
  });
  return {
    settings,
    send: (message) => send(message),
    onMessage,
    beforeEnd: (work) => {
      end = work;
    },
    fail: (failure) => {
      process.exitCode = 1;
      send({ type: 'failed', ...failure }, () => void leave());
    },
  };
}
