// MD5, which WebCrypto leaves out and the protocol asks for: it only says whether a body arrived whole, the signature says from whom.

const shifts = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const table = Array.from({ length: 64 }, (_, index) => Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32) | 0);
const start = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476] as const;

type State = readonly [number, number, number, number];

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

/** Mixes three words, and says which word of the block is added. */
function mix(step: number, [, b, c, d]: State): readonly [mixed: number, place: number] {
  if (step < 16) return [(b & c) | (~b & d), step];
  if (step < 32) return [(d & b) | (~d & c), (5 * step + 1) % 16];
  if (step < 48) return [b ^ c ^ d, (3 * step + 5) % 16];
  return [c ^ (b | ~d), (7 * step) % 16];
}

function addBlock(before: State, block: DataView, at: number): State {
  let state = before;
  for (let step = 0; step < 64; step += 1) {
    const [a, b, c, d] = state;
    const [mixed, place] = mix(step, state);
    const sum = (a + mixed + (table[step] ?? 0) + block.getInt32(at + 4 * place, true)) | 0;
    state = [d, (b + rotate(sum, shifts[(step >> 4) * 4 + (step % 4)] ?? 0)) | 0, b, c];
  }
  return [(before[0] + state[0]) | 0, (before[1] + state[1]) | 0, (before[2] + state[2]) | 0, (before[3] + state[3]) | 0];
}

/** Returns the MD5 of bytes as hex. */
export function md5(bytes: Uint8Array): string {
  const padded = new DataView(new ArrayBuffer(64 * Math.ceil((bytes.length + 9) / 64)));
  new Uint8Array(padded.buffer).set(bytes);
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(padded.byteLength - 8, (bytes.length * 8) >>> 0, true);
  padded.setUint32(padded.byteLength - 4, Math.floor(bytes.length / 2 ** 29), true);
  let state: State = start;
  for (let at = 0; at < padded.byteLength; at += 64) state = addBlock(state, padded, at);
  const words = new DataView(new ArrayBuffer(16));
  for (const [place, word] of state.entries()) words.setInt32(4 * place, word, true);
  return Array.from(new Uint8Array(words.buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
