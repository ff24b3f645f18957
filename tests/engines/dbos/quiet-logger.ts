/** A DBOS logger that writes nothing: in these tests, servers stop and processes are killed on purpose. */
export const quietLogger = { info: () => undefined, debug: () => undefined, warn: () => undefined, error: () => undefined };
