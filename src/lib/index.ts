export { shareAbortListener } from './abort-listeners.ts';
export type { EarlierItems } from './append-only-list.ts';
export { AppendOnlyList } from './append-only-list.ts';
export { assertNever } from './assert-never.ts';
export type { Callback } from './callback.ts';
export { mostCanonicalBytes, mostCanonicalDepth, toCanonical, toFrozenCanonical } from './canonical.ts';
export { checkKeys, findKeyProblem } from './check-keys.ts';
export { cleanText, describeBrokenText, isCleanText } from './clean-text.ts';
export type { Clock } from './clock.ts';
export { sleep, systemClock } from './clock.ts';
export { countBytes } from './count-bytes.ts';
export { pluralize } from './counted.ts';
export { createSecret } from './create-secret.ts';
export { DamagedDataError } from './damaged-data-error.ts';
export { describeValue } from './describe-value.ts';
export { escapePart } from './escape-part.ts';
export type { Breather } from './event-loop.ts';
export { createBreather, nextTurn } from './event-loop.ts';
export type { FakeClock } from './fake-clock.ts';
export { createFakeClock } from './fake-clock.ts';
export { deepFreeze, copyFrozen, jsonCopy, toFrozen } from './copy-frozen.ts';
export { hmacSha256, md5, sha256 } from './hashes.ts';
export type { IdSource } from './ids.ts';
export { createCountingIds, systemIds } from './ids.ts';
export { InvalidArgumentError } from './invalid-argument-error.ts';
export { JsonScanner } from './json-scanner.ts';
export { freezeParsed } from './freeze-parsed.ts';
export { getKnownForm, markCanonical } from './known-canonical.ts';
export type { Json, Jsonify, JsonObject } from './json.ts';
export {
  isList,
  isPlainObject,
  isRecord,
  jsonEquals,
  omitUndefined,
  parseJsonText,
  present,
  readField,
  setOwn,
  stableStringify,
} from './json.ts';
export { cutLine, toJsonText, toLine } from './one-line.ts';
export type { ValueDescription } from './value-description.ts';
export { childPath, quoteText } from './quote-text.ts';
export type { Random } from './random.ts';
export { systemRandom } from './random.ts';
export type { ProcessIdentity } from './process-identity.ts';
export { isProcessGone, readProcessIdentity } from './process-identity.ts';
export type { ObjectReader, ReadValue } from './reader.ts';
export { latestTime, readAmount, readArray, readJson, readJsonObject, readObject, readString, readTime } from './reader.ts';
export type { Redactor } from './redactor.ts';
export { createRedactor, defaultRedactor } from './redactor.ts';
export { listAll, listSome, toOrdinal, toSentence, toShownText } from './shown-text.ts';
export type { Soon } from './soon.ts';
export { isThenable } from './soon.ts';
export { TextHash } from './text-hash.ts';
export { SteplineError } from './stepline-error.ts';
export { aborted, untilAborted } from './until-aborted.ts';
