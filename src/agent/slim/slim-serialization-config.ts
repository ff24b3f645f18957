import { InvalidArgumentError, isRecord, present } from '../../lib/index.ts';

/** How much of a state a slim payload shows. */
export interface SlimSerializationOptions {
  /** The newest messages, at most so many; 0 for none. @default 50 */
  readonly maxMessages?: number;
  /** Code points of one text: what a message says, the JSON of a call's arguments, a result, all metadata together. @default 1000 */
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
  /** What each criterion answered, after each step that is shown. @default false */
  readonly includeContinuationTrace?: boolean;
}

const numbers = { maxMessages: 0, maxContentLength: 1, maxSteps: 0 } as const;
const switches = ['includeAllSteps', 'includeToolArgs', 'includeToolResults', 'includeMetadata', 'includeContinuationTrace'] as const;
const names: readonly string[] = [...Object.keys(numbers), ...switches];

function checkNames(options: object): void {
  const strange = Object.keys(options).find((name) => !names.includes(name));
  if (strange === undefined) return;
  throw new InvalidArgumentError(`A slim serialization has no option "${strange}"; there are ${names.join(', ')}.`);
}

function checkedCount(options: SlimSerializationOptions, name: keyof typeof numbers, preset: number): number {
  const value: unknown = options[name] ?? preset;
  const least = numbers[name];
  if (typeof value === 'number' && value >= least && (Number.isInteger(value) || value === Infinity)) return value;
  throw new InvalidArgumentError(`${name} is ${String(value)}; pass a whole number from ${least} on, or Infinity for no limit.`);
}

function checkedSwitch(options: SlimSerializationOptions, name: (typeof switches)[number], preset: boolean): boolean {
  const value: unknown = options[name] ?? preset;
  if (typeof value === 'boolean') return value;
  throw new InvalidArgumentError(`${name} is ${String(value)}; pass true or false.`);
}

/** What a slim payload shows of a state, checked. It never changes; `with` gives a changed copy. */
export class SlimSerializationConfig implements Required<SlimSerializationOptions> {
  readonly maxMessages: number;
  readonly maxContentLength: number;
  readonly maxSteps: number;
  readonly includeAllSteps: boolean;
  readonly includeToolArgs: boolean;
  readonly includeToolResults: boolean;
  readonly includeMetadata: boolean;
  readonly includeContinuationTrace: boolean;

  /** What is not said is as in `standard()`. */
  constructor(options: SlimSerializationOptions = {}) {
    if (!isRecord(options))
      throw new InvalidArgumentError('A slim serialization takes an object of options, or one of minimal(), standard(), full().');
    checkNames(options);
    this.maxMessages = checkedCount(options, 'maxMessages', 50);
    this.maxContentLength = checkedCount(options, 'maxContentLength', 1000);
    this.maxSteps = checkedCount(options, 'maxSteps', 20);
    this.includeAllSteps = checkedSwitch(options, 'includeAllSteps', false);
    this.includeToolArgs = checkedSwitch(options, 'includeToolArgs', true);
    this.includeToolResults = checkedSwitch(options, 'includeToolResults', true);
    this.includeMetadata = checkedSwitch(options, 'includeMetadata', true);
    this.includeContinuationTrace = checkedSwitch(options, 'includeContinuationTrace', false);
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

  /** Nothing is cut, and the trace is shown. Secrets are still taken out. */
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
    return new SlimSerializationConfig({ ...this, ...present({ ...options }) });
  }
}
