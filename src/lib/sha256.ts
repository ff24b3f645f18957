// SHA-256 without waiting. `crypto.subtle` is asynchronous, and a value that is computed while data is written cannot wait.

function isPrime(value: number): boolean {
  for (let factor = 2; factor * factor <= value; factor += 1) if (value % factor === 0) return false;
  return true;
}

/** The first 32 bits behind the point: the standard takes its constants from the roots of primes. */
const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) | 0;

function listPrimes(count: number): readonly number[] {
  const primes: number[] = [];
  for (let value = 2; primes.length < count; value += 1) if (isPrime(value)) primes.push(value);
  return primes;
}

let constants: { readonly start: Int32Array; readonly rounds: Int32Array } | undefined;

// Made when first asked for: most programs never need them.
function getConstants(): { readonly start: Int32Array; readonly rounds: Int32Array } {
  const primes = constants === undefined ? listPrimes(64) : [];
  return (constants ??= {
    start: Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    rounds: Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  });
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** Pads bytes to whole blocks of 64 bytes: a one bit, zeros, and the length in bits. */
function toBlocks(bytes: Uint8Array): DataView {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor((bytes.length * 8) / 2 ** 32));
  view.setUint32(padded.length - 4, (bytes.length * 8) >>> 0);
  return view;
}

function fillSchedule(words: Int32Array, blocks: DataView, offset: number): void {
  for (let index = 0; index < 16; index += 1) words[index] = blocks.getInt32(offset + index * 4);
  for (let index = 16; index < 64; index += 1) {
    const early = words[index - 15] ?? 0;
    const late = words[index - 2] ?? 0;
    const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[index] = ((words[index - 16] ?? 0) + first + (words[index - 7] ?? 0) + second) | 0;
  }
}

function addBlock(hash: Int32Array, words: Int32Array, rounds: Int32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let index = 0; index < 64; index += 1) {
    const mixed = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g));
    const next = (h + mixed + (rounds[index] ?? 0) + (words[index] ?? 0)) | 0;
    const majority = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    // One by one: a list of them would be made for every round.
    h = g;
    g = f;
    f = e;
    e = (d + next) | 0;
    d = c;
    c = b;
    b = a;
    a = (next + majority) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    hash[index] = ((hash[index] ?? 0) + word) | 0;
  });
}

/** The SHA-256 of bytes, or of a text in UTF-8, as hexadecimal digits. */
export function sha256(data: string | Uint8Array): string {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  const { start, rounds } = getConstants();
  const [blocks, hash, words] = [toBlocks(bytes), Int32Array.from(start), new Int32Array(64)];
  for (let offset = 0; offset < blocks.byteLength; offset += 64) {
    fillSchedule(words, blocks, offset);
    addBlock(hash, words, rounds);
  }
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}
