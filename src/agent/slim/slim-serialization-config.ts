import { checkKeys, describeValue, InvalidArgumentError, isRecord, omitUndefined } from '../../lib/index.ts';

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

function checkCount(name: string, value: unknown): void {
  const least = name === 'maxContentLength' ? 1 : 0;
  if (typeof value === 'number' && value >= least && (Number.isInteger(value) || value === Infinity)) return;
  throw new InvalidArgumentError(
    `${name} must be a whole number of ${least} or more, or Infinity for no limit, not ${describeValue(value)}.`,
  );
}

function checkSwitch(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw new InvalidArgumentError(`${name} must be true or false, not ${describeValue(value)}.`);
}

/** Checked settings for how much of a state a slim payload shows. Immutable; `with` returns a changed copy. */
export class SlimSerializationConfig implements Required<SlimSerializationOptions> {
  readonly maxMessages: number = 50;
  readonly maxContentLength: number = 1000;
  readonly maxSteps: number = 20;
  readonly includeAllSteps: boolean = false;
  readonly includeToolArgs: boolean = true;
  readonly includeToolResults: boolean = true;
  readonly includeMetadata: boolean = true;
  readonly includeContinuationTrace: boolean = false;

  /** Options that are not given are those of `standard()`. */
  constructor(options: SlimSerializationOptions = {}) {
    if (!isRecord(options))
      throw new InvalidArgumentError(
        `SlimSerializationConfig needs an object of options, not ${describeValue(options)}. Use minimal(), standard() or full() for a preset.`,
      );
    const settings = new Map<string, unknown>(Object.entries(this));
    checkKeys('SlimSerializationConfig', options, [...settings.keys()]);
    for (const [name, value] of Object.entries(options)) {
      if (value === undefined || value === null) continue;
      if (typeof settings.get(name) === 'number') checkCount(name, value);
      else checkSwitch(name, value);
      settings.set(name, value);
    }
    Object.freeze(Object.assign(this, Object.fromEntries(settings)));
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

  /** The settings. */
  static standard(): SlimSerializationConfig {
    return new SlimSerializationConfig();
  }

  /** Nothing is left out: a payload without secrets can be resumed exactly. Secrets are still removed. */
  static full(): SlimSerializationConfig {
    return new SlimSerializationConfig({
      maxMessages: Infinity,
      maxContentLength: Infinity,
      maxSteps: Infinity,
      includeAllSteps: true,
      includeContinuationTrace: true,
    });
  }

  /** True if nothing is left out. */
  get isUnlimited(): boolean {
    const { maxMessages, maxContentLength, maxSteps, includeAllSteps, ...others } = this;
    const hasAllSteps = includeAllSteps || maxSteps === Infinity;
    return maxMessages === Infinity && maxContentLength === Infinity && hasAllSteps && !Object.values(others).includes(false);
  }

  with(options: SlimSerializationOptions): SlimSerializationConfig {
    return new SlimSerializationConfig({ ...this, ...omitUndefined({ ...options }) });
  }
}
