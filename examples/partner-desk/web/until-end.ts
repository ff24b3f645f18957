// When the desk ends: by Ctrl-C, by a signal, or because the npm that started it is gone.

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const lookMs = 500;

/** Settles when somebody ends the desk. */
export function untilEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) process.on(signal, () => resolve());
    // npm passes signals to its shell only, which may not pass them on.
    if (process.env['npm_lifecycle_event'] === undefined) return;
    const { ppid } = process;
    setInterval(() => {
      if (process.ppid !== ppid) resolve();
    }, lookMs).unref();
  });
}
