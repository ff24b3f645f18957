// Canonical values
// Owns:     the one form a value has in memory, on disk and on the wire, so that a run reads the same before and after a resume.
// Does not: throw, or change its input. What is canonical already is copied only if a copy is asked for.
// V1. toCanonical(toCanonical(x)) is toCanonical(x), by reference.
// V2. JSON.parse(JSON.stringify(v)) equals v for every canonical v.
// V3. What cannot be kept without losing meaning is refused with its path; what JSON would quietly change is changed here, once.
import { isCanonical } from './canonical-check.ts';
import { createWalk, dropped, refused, walkThrough } from './canonical-walk.ts';
import { copyFrozen } from './copy-frozen.ts';
import { countBytes } from './count-bytes.ts';
import { copyPlain } from './frozen-copy.ts';
import type { Json } from './json.ts';
import { childPath } from './quote-text.ts';
import { isKnownCanonical } from './known-canonical.ts';

/** Limits of a canonical value. */
export interface CanonicalLimits {
  /** Containers inside containers. @default 64 */
  readonly maxDepth?: number;
  /** UTF-8 bytes of the JSON text. @default 1_000_000 */
  readonly maxBytes?: number;
}

/** The canonical value, or the path of the problem and the problem. */
export type CanonicalResult =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly path: string; readonly problem: string; readonly isTooLarge?: true };

const measureJson = (value: Json): number => countBytes(JSON.stringify(value));

// Measuring has an end too: a value may be almost endless.
const mostMeasured = { bytes: 100, values: 500_000 };

function describeSize(value: unknown, { maxDepth, maxBytes }: Required<CanonicalLimits>): string {
  const whole = walkThrough(value, {
    ...createWalk({ maxDepth, maxBytes: maxBytes * mostMeasured.bytes }),
    valuesLeft: mostMeasured.values,
  });
  const isMeasured = whole !== refused && whole !== dropped;
  const size = isMeasured ? String(measureJson(whole)) : `more than ${maxBytes}`;
  return `takes ${size} bytes as JSON, and at most ${maxBytes} can be stored`;
}

/** Limits of a value, unless a caller sets others. */
export const mostCanonicalBytes = 1_000_000;
export const mostCanonicalDepth = 64;

/** Brings a value into the form that JSON keeps; returns the very same value when it has that form already. */
export function toCanonical(
  value: unknown,
  { maxDepth = mostCanonicalDepth, maxBytes = mostCanonicalBytes }: CanonicalLimits = {},
): CanonicalResult {
  if (maxDepth >= mostCanonicalDepth && maxBytes >= mostCanonicalBytes && isKnownCanonical(value)) return { ok: true, value };
  if (isCanonical(value, maxDepth, maxBytes)) return { ok: true, value };
  const limits = { maxDepth, maxBytes };
  const walk = createWalk(limits);
  const converted = walkThrough(value, walk);
  if (converted === refused && !walk.isTooLarge) return { ok: false, path: walk.trail.reduce(childPath, ''), problem: walk.problem };
  const canonical = converted === dropped ? null : converted;
  if (canonical !== refused && (walk.atMost <= maxBytes || measureJson(canonical) <= maxBytes)) return { ok: true, value: canonical };
  return { ok: false, path: '', problem: describeSize(value, limits), isTooLarge: true };
}

/** Brings a value into the form that JSON keeps, as a frozen copy. Later changes to the value do not affect the copy. */
export function toFrozenCanonical(value: unknown, limits: CanonicalLimits = {}): CanonicalResult {
  const { maxDepth = mostCanonicalDepth, maxBytes = mostCanonicalBytes } = limits;
  const copy = copyPlain(value, maxDepth, maxBytes);
  if (copy !== undefined) return { ok: true, value: copy };
  const canonical = toCanonical(value, limits);
  return canonical.ok ? { ok: true, value: copyFrozen(canonical.value) } : canonical;
}
