import type { ContinuationCriterion } from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import type { EventBus, EventSink } from '../events/index.ts';
import type { Model, ModelSettings, ModelTimeouts, PriceSource } from '../inference/index.ts';
import type { Capability, Hook } from '../hooks/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, isCleanText, isRecord } from '../lib/index.ts';
import type { Limits, Ports, RunState } from '../step-by-step/index.ts';
import type { AfterParsing, ContextNeeded, ContextType, ToolInput, Tools } from '../tools/index.ts';
import type { Driver } from './driver.ts';
import type { ToolEvent, ToolUseEvent } from './tool-use-events.ts';

/** System text for the model, or a function that writes it for each step. */
export type Instructions<Context, State> = string | ((facts: { readonly context: Context; readonly state: State }) => string);

/** The budgets of one execution, and the guard against a model that repeats itself. */
export interface ToolUseLimits extends Limits {
  /** Ends the run when the same tool was called with the same arguments in that many steps in a row. @default not watched */
  readonly repeatedToolCalls?: number;
}

/** Options of a conversation with tools. */
export interface ToolUseOptions<
  State extends RunState,
  Context = unknown,
  Given extends Tools = Tools,
  Output extends ToolInput = ToolInput,
  Capabilities extends readonly Capability<Tools, State>[] = readonly Capability<Tools, State>[],
> {
  /** Model to ask, such as `aiSdk(openai('gpt-5'))`. */
  readonly model: Model;
  /** Models to ask in turn if the model is busy, slow or broken. */
  readonly fallback?: readonly Model[];
  /** Settings of each request, such as `{ temperature: 0 }`. */
  readonly settings?: ModelSettings;
  /** Time limits of a model call. */
  readonly timeouts?: ModelTimeouts;
  /** Type of the context that the host passes with each run: `defineContext<{ db: Db }>()`. Never stored. */
  readonly context?: ContextType<Context>;
  /** Tools that the model may call: a list, or a record keyed by their names. */
  readonly tools?: Given;
  /** System text for the model, or a function that writes it for each step. */
  readonly instructions?: Instructions<Context & ContextNeeded<Given>, State>;
  /** The form of the final answer; one that does not fit is a validation failure, which the policy may retry. */
  readonly output?: Output;
  /** Budgets of one execution (steps, tokens, time, cost), and what happens when one is used up. `Infinity` removes a limit. */
  readonly limits?: ToolUseLimits;
  /** Handling of failures. */
  readonly errors?: ErrorPolicy;
  /** Finish reasons that end the run. @default [] */
  readonly finishReasons?: readonly string[];
  /** Criteria of your own, added after the default ones. A name that is taken gets a number: `StepsLimit#2`. */
  readonly criteria?: readonly ContinuationCriterion<State>[];
  /** Criteria of your own in place of all default ones. Of `limits`, `errors` and `finishReasons` only what you give applies. */
  readonly onlyCriteria?: readonly ContinuationCriterion<State>[];
  /** Functions of your own at the points of a step; make them with defineHook(). */
  readonly hooks?: readonly Hook<State, NoInfer<Context & ContextNeeded<Given>>>[];
  /** Bundles of tools, hooks, criteria and instructions; each may be added once. */
  readonly capabilities?: Capabilities;
  /** Way of getting a step out of the model. @default toolCallingDriver() */
  readonly driver?: Driver;
  /** Prices of usage; without it, costs are unknown. */
  readonly price?: PriceSource;
  /** Handling of a call whose end nobody saw: tell the model, or ask a person. @default 'tell' */
  readonly onUnknown?: 'tell' | 'ask';
  /** Number of calls of a step that may run at once. @default 8 */
  readonly toolConcurrency?: number;
  /** False asks for each answer in one piece. @default true */
  readonly streaming?: boolean;
  /** Bus for its events; one bus may serve several. @default a bus of its own */
  readonly events?: EventBus<ToolEvent<Given>> | EventBus<ToolEvent> | EventBus<ToolUseEvent>;
  /** Sources of time, ids and randomness, and the reporter of problems. */
  readonly ports?: Omit<Ports, 'events'>;
}

/** The parsed type of an output schema; undefined if none was given. */
export type ParsedOutput<Output> = [ToolInput] extends [Output] ? undefined : AfterParsing<Output>;

/** Options of any conversation with tools, without the types of its context, tools and events. */
export interface AnyToolUseOptions<State extends RunState> extends Omit<
  ToolUseOptions<State, never>,
  'context' | 'capabilities' | 'events'
> {
  readonly context?: ContextType<unknown>;
  readonly capabilities?: readonly Capability[];
  readonly events?: EventSink<never>;
}

/** Names of the options of a conversation with tools. */
export const toolUseOptionNames: readonly string[] = [
  ...['model', 'fallback', 'settings', 'timeouts', 'context', 'tools', 'instructions', 'output', 'limits', 'errors', 'finishReasons'],
  ...[
    'criteria',
    'onlyCriteria',
    'hooks',
    'capabilities',
    'driver',
    'price',
    'onUnknown',
    'toolConcurrency',
    'streaming',
    'events',
    'ports',
  ],
];

const isText = (value: unknown): boolean => typeof value === 'string';
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const hasMethod = (name: string) => (value: unknown) => isRecord(value) && isFunction(value[name]);
const portNames = ['clock', 'ids', 'random', 'onProblem'];

/** The form of an option: a check, and what it wants in words. */
type OptionRule = readonly [isValid: (value: unknown) => boolean, wanted: string];

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;

/** Forms that many options share. */
export const optionRule: Readonly<Record<'count' | 'text' | 'callback', OptionRule>> = {
  count: [isCount, 'a whole number of 1 or more'],
  text: [isText, 'a string'],
  callback: [isFunction, 'a function'],
};

/** Form of each option of an orchestrator that is checked here. */
const optionRules: Readonly<Record<string, OptionRule>> = {
  id: [isCleanText, 'a non-empty string without NUL characters or lone surrogates'],
  version: [(value) => value === '' || isCleanText(value), 'a non-empty string without NUL characters or lone surrogates'],
  fallback: [Array.isArray, 'a list of models'],
  instructions: [(value) => isText(value) || isFunction(value), 'a string, or a function that returns one'],
  tools: [(value) => typeof value === 'object' && value !== null, 'a list of tools, or an object of tools by name'],
  limits: [isRecord, 'an object'],
  errors: [(value) => value instanceof ErrorPolicy, 'an ErrorPolicy, such as ErrorPolicy.retryToolErrors(3)'],
  finishReasons: [Array.isArray, 'a list of finish reasons'],
  criteria: [Array.isArray, 'a list of criteria'],
  onlyCriteria: [Array.isArray, 'a list of criteria'],
  hooks: [Array.isArray, 'a list of hooks'],
  capabilities: [Array.isArray, 'a list of capabilities'],
  driver: [hasMethod('ask'), 'a driver, such as reActDriver()'],
  price: [isFunction, 'a function, such as priceTable({…})'],
  onUnknown: [(value) => value === 'tell' || value === 'ask', "'tell' or 'ask'"],
  toolConcurrency: optionRule.count,
  streaming: [isBoolean, 'true or false'],
  selector: [
    (value) => isFunction(value) || hasMethod('select')(value),
    'a selector such as roundRobin(), or a function that returns the name of a participant',
  ],
  introduce: [isBoolean, 'true or false'],
  throwOnFailure: [isBoolean, 'true or false'],
  ports: [isRecord, `an object with any of ${portNames.join(', ')}`],
  events: [hasMethod('emit'), 'an event bus: createEventBus()'],
};

/** Throws if `maker` does not know an option, cannot use its value, or lacks one that it needs. */
export function checkOptions(
  maker: string,
  options: unknown,
  { rules = optionRules, known = Object.keys(rules), required = [] }: OptionChecks,
): asserts options is Readonly<Record<string, unknown>> {
  if (!isRecord(options))
    throw new InvalidArgumentError(
      `${maker} needs an object of options, not ${describeValue(options)}. Valid options: ${known.join(', ')}.`,
    );
  checkKeys(maker, options, known);
  for (const [option, [isValid, wanted]] of Object.entries(rules)) {
    const value = options[option];
    if (value === undefined && required.includes(option)) throw new InvalidArgumentError(`${maker}: ${option} is missing. Pass ${wanted}.`);
    if (value !== undefined && !isValid(value))
      throw new InvalidArgumentError(`${maker}: ${option} must be ${wanted}, not ${describeValue(value)}.`);
  }
  if (isRecord(options['ports'])) checkKeys('ports', options['ports'], portNames);
}

/** Throws if criteria were given to add to the default ones, and others to replace them. */
export function checkOwnCriteria(maker: string, { criteria, onlyCriteria }: OwnCriteria): void {
  if (criteria === undefined || onlyCriteria === undefined) return;
  throw new InvalidArgumentError(
    `${maker} got both criteria and onlyCriteria. Use criteria to add to the default ones, or onlyCriteria to replace them.`,
  );
}

interface OwnCriteria {
  readonly criteria?: unknown;
  readonly onlyCriteria?: unknown;
}

/** Throws if a cost is limited that nobody can know. */
export function checkCostLimit(
  maker: string,
  { limits, price }: { readonly limits?: Pick<Limits, 'costUsd'> | undefined; readonly price?: PriceSource | undefined },
): void {
  const { costUsd } = limits ?? {};
  if (costUsd === undefined || costUsd === Infinity || price !== undefined) return;
  throw new InvalidArgumentError(
    `${maker}: limits.costUsd is ${costUsd}, but the cost is unknown without prices. Pass price: priceTable({…}), or remove the limit.`,
  );
}

/** Checks of options. */
interface OptionChecks {
  /** @default those of orchestrators */
  readonly rules?: Readonly<Record<string, OptionRule>>;
  /** Names of all options. @default those that have a rule */
  readonly known?: readonly string[];
  readonly required?: readonly string[];
}

/** Adds the defaults to the given limits. A limit that is undefined was not given. */
export function withDefaultLimits<Some extends ToolUseLimits>(defaults: Some, given: Partial<Some> = {}): Some {
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, limit]) => limit !== undefined)) };
}
