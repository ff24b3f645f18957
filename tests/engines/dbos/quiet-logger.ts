/** A logger for DBOS that writes nothing: servers that stop and processes that are killed are what these tests are about. */
export const quietLogger = { info: () => undefined, debug: () => undefined, warn: () => undefined, error: () => undefined };
