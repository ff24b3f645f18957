import { readField } from '../../lib/index.ts';

interface Piece {
  readonly done: boolean;
  readonly value?: unknown;
}

/** The part of a web stream's reader that is used here. */
interface StreamReader {
  read(): Promise<Piece>;
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
    await readAll(reader, take, signal);
  } finally {
    releaseReader(reader);
  }
}

// One promise and one listener for the whole stream, and nothing made for a piece: a stream has thousands.
function readAll(reader: StreamReader, take: (value: unknown) => unknown, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOpen = true;
    const end = (): void => {
      isOpen = false;
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const fail = (error: unknown): void => {
      reject(error);
      end();
    };
    const readNext = (): void => {
      try {
        reader.read().then(takePiece, fail);
      } catch (error) {
        fail(error);
      }
    };
    const takePiece = ({ done, value }: Piece): void => {
      if (!isOpen) return;
      if (done || signal?.aborted === true) {
        end();
        return;
      }
      try {
        take(value);
      } catch (error) {
        fail(error);
        return;
      }
      readNext();
    };
    if (signal?.aborted === true) {
      end();
      return;
    }
    signal?.addEventListener('abort', end, { once: true });
    readNext();
  });
}
