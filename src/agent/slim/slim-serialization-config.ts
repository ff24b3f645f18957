import { InvalidArgumentError, isRecord, omitUndefined } from '../../lib/index.ts';

/** Settings for how much of a state a slim payload shows. */
export interface SlimSerializationOptions {
  /** The newest messages, at most so many; 0 for none. @default 50 */
  readonly maxMessages?: number;
  /** Code points of one text: the content of a message, the JSON of a call's arguments, a result, all metadata together. @default 1000 */
  readonly maxContentLength?: number;
  /** The newest steps, at most so many; 0 for none. @default 20 */
  readonly maxSteps?: number;
  /** Shows all steps of the execution, whatever `maxSteps` says. @default false */
  readonly includeAllSteps?: boolean;
  /** @default true */
  readonly includeToolArgs?: boolean;
  /** @default true */
  readonly includeToolResults?: boolean;
  /** Metadata of the state and of its messages. @default true */
  readonly includeMetadata?: boolean;
  /** Shows the evaluation of each criterion, after each step that is shown. @default false */
  readonly includeContinuationTrace?: boolean;
}

const least: Readonly<Record<string, number>> = { maxMessages: 0, maxContentLength: 1, maxSteps: 0 };

const defaults: Readonly<Required<SlimSerializationOptions>> = {
  maxMessages: 50,
  maxContentLength: 1000,
  maxSteps: 20,
  includeAllSteps: false,
  includeToolArgs: true,
  includeToolResults: true,
  includeMetadata: true,
  includeContinuationTrace: false,
};

function checkOption(name: string, value: unknown): void {
  const minimum = least[name];
  if (minimum === undefined) {
    if (!Object.hasOwn(defaults, name))
      throw new InvalidArgumentError(`A slim serialization has no option "${name}"; there are ${Object.keys(defaults).join(', ')}.`);
    if (typeof value !== 'boolean') throw new InvalidArgumentError(`${name} is ${String(value)}; pass true or false.`);
  } else if (typeof value !== 'number' || !(value >= minimum) || !(Number.isInteger(value) || value === Infinity))
    throw new InvalidArgumentError(`${name} is ${String(value)}; pass a whole number from ${minimum} on, or Infinity for no limit.`);
}

/** Checked settings for how much of a state a slim payload shows. Immutable; `with` returns a changed copy. */
export class SlimSerializationConfig implements Required<SlimSerializationOptions> {
  readonly maxMessages: number;
  readonly maxContentLength: number;
  readonly maxSteps: number;
  readonly includeAllSteps: boolean;
  readonly includeToolArgs: boolean;
  readonly includeToolResults: boolean;
  readonly includeMetadata: boolean;
  readonly includeContinuationTrace: boolean;

  /** Options that are not given are those of `standard()`. */
  constructor(options: SlimSerializationOptions = {}) {
    if (!isRecord(options))
      throw new InvalidArgumentError('A slim serialization takes an object of options, or one of minimal(), standard(), full().');
    const all = { ...defaults, ...omitUndefined({ ...options }) };
    for (const [name, value] of Object.entries(all)) checkOption(name, value);
    this.maxMessages = all.maxMessages;
    this.maxContentLength = all.maxContentLength;
    this.maxSteps = all.maxSteps;
    this.includeAllSteps = all.includeAllSteps;
    this.includeToolArgs = all.includeToolArgs;
    this.includeToolResults = all.includeToolResults;
    this.includeMetadata = all.includeMetadata;
    this.includeContinuationTrace = all.includeContinuationTrace;
    Object.freeze(this);
  }

  /** The end of the conversation in short: no arguments, no results, no metadata, no steps. */
  static minimal(): SlimSerializationConfig {
    return new SlimSerializationConfig({
      maxMessages: 10,
      maxContentLength: 500,
      maxSteps: 0,
      includeToolArgs: false,
      includeToolResults: false,
      includeMetadata: false,
    });
  }

  /** The defaults. */
  static standard(): SlimSerializationConfig {
    return new SlimSerializationConfig();
  }

  /** Nothing is cut, and the trace is shown. Secrets are still removed. */
  static full(): SlimSerializationConfig {
    return new SlimSerializationConfig({
      maxMessages: Infinity,
      maxContentLength: Infinity,
      maxSteps: Infinity,
      includeAllSteps: true,
      includeContinuationTrace: true,
    });
  }

  with(options: SlimSerializationOptions): SlimSerializationConfig {
    return new SlimSerializationConfig({ ...this, ...omitUndefined({ ...options }) });
  }
}
