// MD5, which WebCrypto leaves out and the protocol asks for: it only says whether a body arrived whole, the signature says from whom.
// Nothing is allocated for a step: a request of 9,000 bytes takes 9,000 steps.

const shifts = Uint8Array.of(7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21);
const sines = Int32Array.from({ length: 64 }, (_, index) => Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32) | 0);

/** Places in a block of the word that each step adds. */
const places = Uint8Array.from({ length: 64 }, (_, step) => {
  const round = step >> 4;
  return [step, 5 * step + 1, 3 * step + 5, 7 * step].at(round) ?? 0;
}).map((place) => place % 16);

function addBlock(state: Int32Array, block: Int32Array): void {
  let [a = 0, b = 0, c = 0, d = 0] = state;
  for (let step = 0; step < 64; step += 1) {
    const round = step >> 4;
    const mixed = round === 0 ? (b & c) | (~b & d) : round === 1 ? (d & b) | (~d & c) : round === 2 ? b ^ c ^ d : c ^ (b | ~d);
    const sum = (a + mixed + (sines[step] ?? 0) + (block[places[step] ?? 0] ?? 0)) | 0;
    const shift = shifts[round * 4 + (step & 3)] ?? 0;
    a = d;
    d = c;
    c = b;
    b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0;
  }
  state.set([(state[0] ?? 0) + a, (state[1] ?? 0) + b, (state[2] ?? 0) + c, (state[3] ?? 0) + d]);
}

/** Returns the MD5 of bytes as hex. */
export function md5(bytes: Uint8Array): string {
  const padded = new DataView(new ArrayBuffer(64 * Math.ceil((bytes.length + 9) / 64)));
  new Uint8Array(padded.buffer).set(bytes);
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(padded.byteLength - 8, (bytes.length * 8) >>> 0, true);
  padded.setUint32(padded.byteLength - 4, Math.floor(bytes.length / 2 ** 29), true);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  const block = new Int32Array(16);
  for (let at = 0; at < padded.byteLength; at += 64) {
    for (let place = 0; place < 16; place += 1) block[place] = padded.getInt32(at + 4 * place, true);
    addBlock(state, block);
  }
  const words = new DataView(new ArrayBuffer(16));
  state.forEach((word, place) => words.setInt32(4 * place, word, true));
  return Array.from(new Uint8Array(words.buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
