// A question that is piped in: echo "Find Acme" | npm start
import type { Readable } from 'node:stream';

/** Somebody may start the demo with an input that is open and stays empty. */
const usualQuietMs = 3000;

/** Reads what is piped in, until it ends or nothing comes for a while. Undefined if there is nothing to read. */
export function readPiped(input: Readable, quietMs: number = usualQuietMs): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let text = '';
    const finish = (): void => {
      clearTimeout(timer);
      // An input that nobody reads any more must not keep the process alive.
      input.destroy();
      resolve(text.trim() === '' ? undefined : text.trim());
    };
    let timer = setTimeout(finish, quietMs);
    input.setEncoding('utf8');
    input.on('data', (piece: string) => {
      text += piece;
      clearTimeout(timer);
      timer = setTimeout(finish, quietMs);
    });
    input.on('end', finish);
    input.on('error', reject);
  });
}
