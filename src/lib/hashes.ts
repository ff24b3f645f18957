// Hashes without waiting, from @noble/hashes, which the build puts into the package. `crypto.subtle` is asynchronous, and a value that is
// computed while data is written or a request is signed cannot wait.
import { hmac } from '@noble/hashes/hmac.js';
import { md5 as computeMd5 } from '@noble/hashes/legacy.js';
import { sha256 as computeSha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Returns the SHA-256 of a text in UTF-8, as hexadecimal digits. */
export const sha256 = (text: string): string => bytesToHex(computeSha256(utf8ToBytes(text)));

/** Returns the HMAC-SHA256 of a text in UTF-8, as hexadecimal digits. */
export const hmacSha256 = (secret: string, text: string): string => bytesToHex(hmac(computeSha256, utf8ToBytes(secret), utf8ToBytes(text)));

/** Returns the MD5 of a text in UTF-8, as hexadecimal digits. It says whether a text arrived whole, never from whom. */
export const md5 = (text: string): string => bytesToHex(computeMd5(utf8ToBytes(text)));
