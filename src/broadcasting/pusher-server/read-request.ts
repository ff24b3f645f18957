import type { IncomingMessage } from 'node:http';

/** Bytes of a request before its body, as they came over the wire. */
function measureHeaders({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  const line = `${method} ${url} HTTP/1.1\r\n`;
  // A name and a value take a colon, a space and a line break beside them: two bytes each.
  return rawHeaders.reduce((sum, text) => sum + Buffer.byteLength(text) + 2, line.length + 2);
}

/** Reads the body of a request; undefined if the whole request is over the limit. */
export async function readRequest(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  let room = maxBytes - measureHeaders(request);
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    // Holds: a request without an encoding is read as bytes.
    const bytes = chunk as Buffer;
    room -= bytes.length;
    // The rest is read too: a client that is still writing would not read the answer.
    if (room >= 0) chunks.push(bytes);
  }
  return room < 0 ? undefined : Buffer.concat(chunks);
}
