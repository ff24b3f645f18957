const secretNames: ReadonlySet<string> = new Set([
  'passwd',
  'password',
  'passphrase',
  'secret',
  'token',
  'apikey',
  'api_key',
  'access_key',
  'secret_key',
  'secret_access_key',
  'signing_key',
  'encryption_key',
  'private_key',
  'authorization',
  'cookie',
  'set_cookie',
]);
const secretEnding = /_(?:passwd|password|passphrase|secret|token|apikey|api_key|secret_key|access_key|private_key|authorization|cookie)$/;
// Tokens that are counted, priced, paged or part of a vocabulary, rather than kept secret.
const openToken =
  /(?:^|_)(?:max|min|per|first|last|next|page|continuation|stop|start|end|begin|eos|bos|pad|unk|mask|sep|cls|input|output|prompt|completion|total)_token$/;

// Most names hold none of these, and are done here.
const hint = /pass|secret|token|key|auth|cookie/i;

/** `apiKey`, `API-Key` and `api_key` are one name: words in lower case, joined by underscores. */
export function splitKey(key: string): string {
  return key
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .replace(/[^A-Za-z\d]+/g, '_')
    .replace(/^_|_$/g, '')
    .toLowerCase();
}

/** Tells whether a field of this name obviously holds a secret. */
export function isSecretKey(key: string): boolean {
  if (!hint.test(key)) return false;
  const words = splitKey(key);
  return secretNames.has(words) || (secretEnding.test(words) && !openToken.test(words));
}
