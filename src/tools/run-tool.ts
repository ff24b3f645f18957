import { isRecord, isThenable } from '../lib/index.ts';
import type { ReadyCall } from './prepare-call.ts';
import type { ToolContext } from './tool-context.ts';

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown, unknown> {
  return isRecord(value) && typeof (value as { readonly [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === 'function';
}

// Each value is progress; what the iterable ends with, or else its last value, is the result.
async function lastOf(values: AsyncIterable<unknown, unknown>, { signal, report }: ToolContext): Promise<unknown> {
  const iterator = values[Symbol.asyncIterator]();
  let last: unknown;
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return value === undefined ? last : value;
    if (signal.aborted) {
      await iterator.return?.();
      throw signal.reason;
    }
    last = value;
    report(value);
  }
}

/** Calls the tool and waits for its result, however it comes. Throws what the tool throws. */
export function runTool({ tool, parsed }: Pick<ReadyCall, 'tool' | 'parsed'>, ctx: ToolContext): unknown {
  const settle = (returned: unknown): unknown => (isAsyncIterable(returned) ? lastOf(returned, ctx) : returned);
  // Holds: the arguments were parsed by this tool's schema, and the set says which context its tools need.
  const returned: unknown = tool.run(parsed as never, ctx as never);
  return returned instanceof Promise
    ? returned.then(settle)
    : isThenable(returned)
      ? Promise.resolve(returned).then(settle)
      : settle(returned);
}
