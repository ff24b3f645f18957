import type { Serde } from '@restatedev/restate-sdk';
import type { TurnRow } from './turn-rows.ts';

/** Bytes of a row that hold the id of its attempt. */
const beginning = 48;

/** Serializes rows as JSON. A row that comes back exactly as it was just written is not parsed again. */
export function createRowSerde(): Serde<TurnRow> {
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  let written: { readonly row: TurnRow; readonly bytes: Uint8Array } | undefined;
  // A row begins with the id of its attempt, which records one row after the other.
  const isWritten = (bytes: Uint8Array): boolean =>
    written !== undefined &&
    bytes.length === written.bytes.length &&
    bytes.subarray(0, beginning).every((byte, index) => byte === written?.bytes[index]);
  return {
    contentType: 'application/json',
    serialize: (row) => {
      const bytes = encoder.encode(JSON.stringify(row));
      written = { row, bytes };
      return bytes;
    },
    deserialize: (bytes) => {
      const row = isWritten(bytes) ? written?.row : undefined;
      written = undefined;
      // Holds: serialize() wrote all rows.
      return row ?? (JSON.parse(decoder.decode(bytes)) as TurnRow);
    },
  };
}
