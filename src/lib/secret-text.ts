// Each pattern reads a text in linear time: runs are bounded, or have one possible start, or end with the match.
// The groups `before` and `after` are kept; the rest of a match is the secret.
/** Patterns of obvious secrets in text. */
export const secretPatterns: readonly RegExp[] = [
  // A key that was cut off is a key still, hence "or the end of the text".
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
  /(?<before>\b(?:proxy-)?(?:authorization|x-api-key)["']?[ \t]{0,8}:[ \t]{0,8})[^\s"'[{][^\r\n"']*/gi,
  /(?<before>\b(?:set-)?cookie["']?[ \t]{0,8}:[ \t]{0,8})(?=[^\s="'[{]{1,256}=)[^\r\n"']+/gi,
  /(?<before>:\/\/[^\s/@:]{0,256}:)[^\s/@]{1,1024}(?<after>@)/g,
  /(?<before>\bBearer[ \t]{1,4})[\w.~+/=-]{3,}/g,
  /(?<before>\bbearer[ \t]{1,4})(?=[a-z.~+/=-]*\d)[\w.~+/=-]{8,}/gi,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /\bsk-[\w-]{16,}/g,
  /\b[sr]k_(?:live|test)_\w{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z\d]{16}\b/g,
  /\b(?:gh[pousr]_|github_pat_)\w{20,}/g,
  /\bxox[a-z]-[\w-]{10,}/g,
  /\bAIza[\w-]{30,}/g,
];

/** A name and its value as JSON text or as `name=value`; whether the name is secret is asked of its match. */
export const namedValuePatterns: readonly RegExp[] = [
  /(?<before>"(?<key>[\w-]{1,64})"\s{0,16}:\s{0,16}")[^"\\]*(?:\\[\s\S][^"\\]*)*(?<after>")/g,
  /(?<before>(?<![\w-])(?<key>[\w-]{1,64})=)(?:"[^"\r\n]{1,4096}"|'[^'\r\n]{1,4096}'|[^\s&;,"']+)/g,
];
