import { aborted, readField, untilAborted } from '../../lib/index.ts';

/** The part of a web stream's reader that is used here. */
interface StreamReader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
  cancel(reason?: unknown): Promise<void>;
}

interface StreamLike {
  getReader(): StreamReader;
  cancel(reason?: unknown): Promise<void>;
}

const isStream = (value: unknown): value is StreamLike => typeof readField(value, 'getReader') === 'function';

function readStreamField(result: unknown): StreamLike | undefined {
  const stream = readField(result, 'stream');
  return isStream(stream) ? stream : undefined;
}

// Nobody waits for this: a source that does not let itself be cancelled must not hold up the answer.
function releaseReader(source: StreamReader | StreamLike): void {
  source.cancel().catch(() => undefined);
}

/** Lets go of a stream that came too late. */
export function dropStream(result: unknown): void {
  const stream = readStreamField(result);
  if (stream !== undefined) releaseReader(stream);
}

/** Hands each piece of a stream on as it comes, until its end or until the signal aborts. The stream is let go of in any case. */
export async function readStream(result: unknown, take: (value: unknown) => unknown, signal: AbortSignal | undefined): Promise<void> {
  const stream = readStreamField(result);
  if (stream === undefined) throw new TypeError('doStream() of the model returned no stream.');
  const reader = stream.getReader();
  try {
    for (;;) {
      const next = await untilAborted(reader.read(), signal);
      if (next === aborted || next.done || signal?.aborted === true) return;
      take(next.value);
    }
  } finally {
    releaseReader(reader);
  }
}
