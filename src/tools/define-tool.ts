import { EffectClass } from '../effects/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { isRecord } from '../lib/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import { toInputSchema } from './input-schema.ts';
import type { ClientTool, FunctionTool } from './tool.ts';
import type { AfterParsing, ArgsOf, BesideInput, ToolInput } from './tool-input.ts';
import { toolNameProblem } from './tool-name.ts';
import type {
  ClientToolOptions,
  FinalResult,
  FunctionToolOptions,
  OutputOption,
  RawResult,
  ShownOption,
  ToolReturn,
} from './tool-options.ts';
import type { Validate } from './value-schema.ts';
import { toOutputSchema } from './value-schema.ts';

// The options as they may come from a caller that no compiler watched.
interface GivenOptions {
  readonly name: string;
  readonly description: string;
  readonly input: unknown;
  readonly inputJsonSchema?: unknown;
  readonly validate?: Validate;
  readonly output?: unknown;
  readonly providerOptions?: JsonObject;
  readonly context?: unknown;
  readonly run?: FunctionTool['run'];
  readonly timeoutMs?: number;
  readonly effect?: EffectClass;
  readonly needsApproval?: FunctionTool['needsApproval'];
  readonly reconcile?: NonNullable<FunctionTool['reconcile']>;
  readonly toModelOutput?: NonNullable<FunctionTool['toModelOutput']>;
}

const effects: ReadonlySet<unknown> = new Set(Object.values(EffectClass));
const absentOr =
  (isRight: (given: unknown) => boolean) =>
  (given: unknown): boolean =>
    given === undefined || isRight(given);
const aFunction = absentOr((given) => typeof given === 'function');

const rules: readonly (readonly [option: keyof GivenOptions, isRight: (given: unknown) => boolean, wanted: string])[] = [
  ['description', (given) => typeof given === 'string', 'text'],
  ['run', aFunction, 'a function'],
  ['reconcile', aFunction, 'a function'],
  ['toModelOutput', aFunction, 'a function'],
  ['validate', aFunction, 'a function'],
  ['timeoutMs', absentOr((given) => Number.isFinite(given) && (given as number) > 0), 'a number above 0'],
  ['effect', absentOr((given) => effects.has(given)), `one of ${[...effects].join(', ')}`],
  ['providerOptions', absentOr(isRecord), 'an object'],
  ['needsApproval', (given) => typeof given === 'boolean' || aFunction(given), 'true, false or a function'],
];

const onlyWithRun = ['timeoutMs', 'effect', 'needsApproval', 'reconcile'] as const;

const known: ReadonlySet<string> = new Set(['name', 'input', 'inputJsonSchema', 'output', 'context', ...rules.map(([option]) => option)]);

const hints: ReadonlyMap<string, string> = new Map([
  ['execute', ' The function that carries it out is called run.'],
  ['parameters', ' The schema of the arguments is called input.'],
  ['inputSchema', ' The schema of the arguments is called input.'],
]);

// A misspelt `run` would make a tool that waits for ever.
function unknownOption(options: GivenOptions): string | undefined {
  const strange = Object.keys(options).find((option) => !known.has(option));
  if (strange === undefined) return undefined;
  return `there is no option "${strange}".${hints.get(strange) ?? ''}`;
}

function problemOf(options: GivenOptions): string | undefined {
  const broken = rules.find(([option, isRight]) => !isRight(options[option]));
  if (broken !== undefined) return `${broken[0]} must be ${broken[2]}.`;
  const pointless = options.run === undefined ? onlyWithRun.find((option) => options[option] !== undefined) : undefined;
  return pointless === undefined ? undefined : `without run, somebody outside carries it out: ${pointless} does not apply.`;
}

function toTool(options: GivenOptions): FunctionTool | ClientTool {
  const { name, description, input, inputJsonSchema, validate, output, providerOptions, run, toModelOutput } = options;
  const problem = toolNameProblem(name) ?? unknownOption(options) ?? problemOf(options);
  if (problem !== undefined) throw new InvalidToolError(name, problem);
  const shared = {
    name,
    description,
    input: toInputSchema(name, { input, inputJsonSchema, validate }),
    ...(output !== undefined && { output: toOutputSchema(name, output) }),
    ...(providerOptions !== undefined && { providerOptions }),
    ...(toModelOutput !== undefined && { toModelOutput }),
  };
  if (run === undefined) return Object.freeze({ type: 'client' as const, ...shared });
  const { timeoutMs, effect = EffectClass.Once, needsApproval = false, reconcile } = options;
  return Object.freeze({
    type: 'function' as const,
    ...shared,
    run,
    effect,
    needsApproval,
    ...(options.context !== undefined && { needsContext: true }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(reconcile !== undefined && { reconcile }),
  });
}

// NoInfer: the place where a tool is declared, such as a list of any tools, must not decide which context it needs.
/**
 * Declares a tool. The types of arguments and result are read from the schemas and from `run`.
 * Without `run` it is a client tool: somebody outside carries it out, and a call of it waits for the answer.
 */
export function defineTool<
  const Input extends ToolInput,
  const Output extends ToolInput,
  const Returned extends ToolReturn<RawResult<Output>>,
  Context = unknown,
>(
  options: FunctionToolOptions<Input, Returned, RawResult<Output>, Context> &
    OutputOption<Output> &
    ShownOption<AfterParsing<Output>> &
    BesideInput<Input>,
): FunctionTool<ArgsOf<Input>, Returned, NoInfer<Context>>;
export function defineTool<const Input extends ToolInput, Returned, Context = unknown>(
  options: FunctionToolOptions<Input, Returned, FinalResult<Returned>, Context> &
    ShownOption<FinalResult<Returned>> &
    BesideInput<Input> & { readonly output?: undefined },
): FunctionTool<ArgsOf<Input>, Returned, NoInfer<Context>>;
export function defineTool<const Input extends ToolInput, const Output extends ToolInput = JsonObject>(
  options: ClientToolOptions<Input, Output> & BesideInput<Input>,
): ClientTool;
export function defineTool(options: object): FunctionTool | ClientTool {
  // Holds as far as a compiler watched; toTool looks for itself.
  return toTool(options as GivenOptions);
}
