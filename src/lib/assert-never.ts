/** Ends an exhaustive switch: a new variant that nobody handles becomes a compile error, and a clear throw at run time. */
export function assertNever(value: never): never {
  throw new TypeError(`Unhandled variant: ${JSON.stringify(value)}`);
}
