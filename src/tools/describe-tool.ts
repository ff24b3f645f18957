import type { JsonObject } from '../lib/index.ts';
import { describeValue, findKeyProblem, isRecord, omitUndefined } from '../lib/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import type { DescribedTool } from './tool.ts';
import { EffectClass } from '../effects/index.ts';
import { findToolNameProblem } from './tool-name.ts';
import type { Validate } from './value-schema.ts';
import { toInputSchema, toOutputSchema } from './value-schema.ts';

/** Options that describe a tool, whoever runs it. They may come from a caller without a compiler. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly input: unknown;
  readonly inputJsonSchema?: unknown;
  readonly validate?: Validate | undefined;
  readonly output?: unknown;
  readonly providerOptions?: JsonObject | undefined;
  readonly toModelOutput?: DescribedTool['toModelOutput'] | undefined;
  readonly maxResultChars?: number | undefined;
}

/** The function that declares a tool, and the options it takes beside the description. */
export interface ToolMaker {
  readonly maker: string;
  readonly options?: readonly string[];
  readonly hints?: Readonly<Record<string, string>>;
  /** The tool was written for another library: its JSON Schema may have keywords that nobody knows, and it may lack a description. @default false */
  readonly isForeign?: boolean;
}

const described = [
  'name',
  'description',
  'input',
  'inputJsonSchema',
  'validate',
  'output',
  'providerOptions',
  'toModelOutput',
  'maxResultChars',
];

const effects: readonly unknown[] = Object.values(EffectClass);
const isFunction = (given: unknown): boolean => typeof given === 'function';
const mandatory: ReadonlySet<string> = new Set(['description', 'run']);

const isPositive = (given: unknown): boolean => typeof given === 'number' && given > 0;

const isApprovalScope = (given: unknown): boolean =>
  isRecord(given) &&
  Object.keys(given).every((key) => ['arguments', 'maxUses', 'expiresMs'].includes(key)) &&
  (given['arguments'] === 'exact' || given['arguments'] === 'any') &&
  Number.isSafeInteger(given['maxUses']) &&
  isPositive(given['maxUses']) &&
  isPositive(given['expiresMs']) &&
  Number.isFinite(given['expiresMs']);

interface Rule {
  readonly isRight: (given: unknown) => boolean;
  readonly wanted: string;
  readonly advice?: string;
}

const rules: Readonly<Record<string, Rule>> = {
  description: {
    isRight: (given) => typeof given === 'string' && given.trim() !== '',
    wanted: 'a non-empty string',
    advice: 'Say what the tool does, and when to use it: that is all the model knows of it.',
  },
  run: { isRight: isFunction, wanted: 'a function', advice: 'For a tool that runs outside, such as in a browser, use defineClientTool().' },
  reconcile: { isRight: isFunction, wanted: 'a function' },
  toModelOutput: { isRight: isFunction, wanted: 'a function' },
  validate: { isRight: isFunction, wanted: 'a function' },
  timeoutMs: { isRight: (given) => typeof given === 'number' && Number.isFinite(given) && given > 0, wanted: 'a number above 0' },
  maxResultChars: {
    isRight: (given) => given === Infinity || (Number.isSafeInteger(given) && Number(given) > 0),
    wanted: 'a whole number above 0, or Infinity for no limit',
  },
  effect: { isRight: (given) => effects.includes(given), wanted: `one of ${effects.join(', ')}` },
  providerOptions: { isRight: isRecord, wanted: 'an object' },
  approvalScope: {
    isRight: isApprovalScope,
    wanted: "{ arguments: 'exact' or 'any', maxUses, expiresMs } with numbers above 0",
  },
  needsApproval: { isRight: (given) => typeof given === 'boolean' || isFunction(given), wanted: 'true, false or a function' },
};

function findOptionProblem(options: object, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const rule = rules[key];
    const given: unknown = Reflect.get(options, key);
    if (rule === undefined || (given === undefined && !mandatory.has(key))) continue;
    const { wanted, advice } = rule;
    if (!rule.isRight(given)) return `${key} must be ${wanted}, not ${describeValue(given)}.${advice === undefined ? '' : ` ${advice}`}`;
  }
  return undefined;
}

/** Checks all options of a new tool, and reads those that describe it. */
export function describeTool(
  given: ToolDescription,
  { maker, options = [], hints = {}, isForeign = false }: ToolMaker,
): DescribedTool<never> {
  const { name, description, input, inputJsonSchema, validate, output, providerOptions, toModelOutput, maxResultChars } = given;
  const known = [...described, ...options];
  const problem =
    findToolNameProblem(name) ??
    findKeyProblem(maker, given, { known, hints }) ??
    findOptionProblem(given, isForeign ? known.filter((key) => key !== 'description') : known);
  if (problem !== undefined) throw new InvalidToolError(name, problem);
  return {
    name,
    description,
    input: toInputSchema(name, { input, inputJsonSchema, validate, ignoresUnknown: isForeign }),
    ...omitUndefined({
      output: output === undefined ? undefined : toOutputSchema(name, output),
      providerOptions,
      toModelOutput,
      maxResultChars,
    }),
  };
}
