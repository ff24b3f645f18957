import type { Redactor } from '../lib/index.ts';
import { checkKeys, defaultRedactor, describeValue, InvalidArgumentError } from '../lib/index.ts';

/** Presets: what is sent, and how much of it. */
export const BroadcastPreset = {
  /** No chunks of text. */
  Minimal: 'minimal',
  Standard: 'standard',
  /** Every event, with arguments and the trace of every decision. */
  Debug: 'debug',
} as const;
export type BroadcastPreset = (typeof BroadcastPreset)[keyof typeof BroadcastPreset];

/** Contents of envelopes. Each option beside `preset` overrides one of its settings. */
export interface BroadcastOptions {
  /** @default 'standard' */
  readonly preset?: BroadcastPreset;
  /** Sends text and reasoning as they are written. @default false with `minimal` */
  readonly includeStreamChunks?: boolean;
  /** Sends `agent.continuation` with every evaluation. @default true with `debug` */
  readonly includeContinuationTrace?: boolean;
  /** Sends the arguments of calls beside their summary. @default true with `debug` */
  readonly includeToolArgs?: boolean;
  /** Longest text in arguments and summaries of results. @default 100; 500 with `debug` */
  readonly maxArgLength?: number;
  /** Most bytes of an envelope as JSON: what is over it is cut to a reference. @default 8_000 */
  readonly maxBytes?: number;
  /** Removes secrets. @default the one that knows the obvious secrets */
  readonly redactor?: Redactor;
  /** Expiry of approvals, as the session runtime has it: envelopes then say when an approval expires. */
  readonly approvals?: { readonly expireAfterMs: number };
}

/** Options with their defaults. */
export interface BroadcastSettings {
  readonly includesChunks: boolean;
  readonly includesTrace: boolean;
  readonly includesArgs: boolean;
  /** True if every event gets an envelope. */
  readonly includesAll: boolean;
  readonly maxArgLength: number;
  readonly maxBytes: number;
  readonly redactor: Redactor;
  readonly expireAfterMs: number | undefined;
}

/** Names of the options. */
export const broadcastOptionNames: readonly (keyof BroadcastOptions)[] = [
  'preset',
  'includeStreamChunks',
  'includeContinuationTrace',
  'includeToolArgs',
  'maxArgLength',
  'maxBytes',
  'redactor',
  'approvals',
];

/** The least byte budget: ids, times and names need room too. */
const leastBytes = 1_000;

function assertCount(name: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least) return;
  throw new InvalidArgumentError(`${name} must be a whole number of at least ${least}, not ${describeValue(value)}.`);
}

/** Checks the options, and fills in what the preset says. */
export function parseBroadcastOptions(maker: string, options: BroadcastOptions): BroadcastSettings {
  checkKeys(maker, options, broadcastOptionNames);
  const { preset = BroadcastPreset.Standard, redactor = defaultRedactor, maxBytes = 8_000, approvals } = options;
  if (!Object.values(BroadcastPreset).includes(preset))
    throw new InvalidArgumentError(`Unknown preset ${describeValue(preset)} in ${maker}. Use 'minimal', 'standard' or 'debug'.`);
  const isDebug = preset === BroadcastPreset.Debug;
  const { maxArgLength = isDebug ? 500 : 100 } = options;
  assertCount('maxArgLength', maxArgLength, 1);
  assertCount('maxBytes', maxBytes, leastBytes);
  return {
    includesChunks: options.includeStreamChunks ?? preset !== BroadcastPreset.Minimal,
    includesTrace: options.includeContinuationTrace ?? isDebug,
    includesArgs: options.includeToolArgs ?? isDebug,
    includesAll: isDebug,
    maxArgLength,
    maxBytes,
    redactor,
    expireAfterMs: approvals?.expireAfterMs,
  };
}
