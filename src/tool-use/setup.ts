import type { ContinuationCriterion } from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { InvalidArgumentError, isRecord } from '../lib/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import type { Capability, HookChain } from '../hooks/index.ts';
import { createChain } from '../hooks/index.ts';
import type { Model, ModelSettings, OfferedTool, PriceOf } from '../inference/index.ts';
import { withFallback, withTimeouts } from '../inference/index.ts';
import type { AnswerSchema, Tool } from '../tools/index.ts';
import { toAnswerSchema, ToolSet } from '../tools/index.ts';
import { addCapabilities } from './add-capabilities.ts';
import type { Driver } from './driver.ts';
import { toolCallingDriver } from './drivers/tool-calling.ts';
import type { AnyToolUseOptions, Instructions, ToolUseLimits, ToolUseOptions } from './options.ts';
import type { ToolUseState } from './tool-use-state.ts';

/** The options, checked and made ready: what every step works with. */
export interface Setup<Context> {
  /** The kind of orchestrator, as events name it. */
  readonly name: string;
  readonly model: Model;
  readonly settings: ModelSettings;
  readonly tools: ToolSet<Context>;
  /** Rules of the host's own and of capabilities. */
  readonly criteria: readonly ContinuationCriterion<ToolUseState>[];
  readonly offered: readonly OfferedTool[];
  readonly toolNames: readonly string[];
  /** In the order in which the model reads them. */
  readonly instructions: readonly Instructions<Context, ToolUseState>[];
  /** Undefined where there are none: a step without hooks pays nothing for them. */
  readonly hooks: HookChain | undefined;
  readonly capabilities: readonly Capability[];
  readonly output: AnswerSchema | undefined;
  readonly driver: Driver;
  readonly price: PriceOf | undefined;
  readonly watchesCost: boolean;
  readonly onUnknown: 'tell' | 'ask';
  readonly toolConcurrency: number | undefined;
  readonly isStreaming: boolean;
  /** True where the host has said that a context is needed. */
  readonly needsContext: boolean;
  readonly onProblem: ProblemReporter | undefined;
}

const knownOptions = [
  ...['model', 'fallback', 'settings', 'timeouts', 'context', 'tools', 'instructions', 'output', 'limits', 'errors', 'finishReasons'],
  ...['criteria', 'hooks', 'capabilities', 'driver', 'price', 'onUnknown', 'toolConcurrency', 'streaming', 'events', 'ports'],
] as const;

const absentOr =
  (isRight: (given: unknown) => boolean) =>
  (given: unknown): boolean =>
    given === undefined || isRight(given);
const isCount = (given: unknown): boolean => typeof given === 'number' && Number.isInteger(given) && given > 0;
const isText = (given: unknown): boolean => typeof given === 'string';

const portNames = ['clock', 'ids', 'random', 'onProblem'];
const isPorts = (given: unknown): boolean => isRecord(given) && Object.keys(given).every((name) => portNames.includes(name));

const rules: readonly (readonly [option: string, isRight: (given: unknown) => boolean, wanted: string])[] = [
  ['id', absentOr((given) => isText(given) && given !== ''), 'text'],
  ['version', absentOr(isText), 'text'],
  ['fallback', absentOr(Array.isArray), 'a list of models'],
  ['instructions', absentOr((given) => isText(given) || typeof given === 'function'), 'text, or a function that returns it'],
  ['tools', absentOr((given) => typeof given === 'object' && given !== null), 'a list or a record of tools'],
  ['limits', absentOr(isRecord), 'an object'],
  ['errors', absentOr((given) => given instanceof ErrorPolicy), 'an ErrorPolicy, such as ErrorPolicy.retryToolErrors(3)'],
  ['finishReasons', absentOr(Array.isArray), 'a list'],
  ['criteria', absentOr(Array.isArray), 'a list'],
  ['hooks', absentOr(Array.isArray), 'a list of hooks'],
  ['capabilities', absentOr(Array.isArray), 'a list of capabilities'],
  ['driver', absentOr((given) => isRecord(given) && typeof given['ask'] === 'function'), 'a driver, such as reActDriver()'],
  ['price', absentOr((given) => typeof given === 'function'), 'a function, such as priceTable({…}) makes'],
  ['onUnknown', absentOr((given) => given === 'tell' || given === 'ask'), "'tell' or 'ask'"],
  ['toolConcurrency', absentOr(isCount), 'a whole number from 1 on'],
  ['streaming', absentOr((given) => typeof given === 'boolean'), 'true or false'],
  ['ports', absentOr(isPorts), 'an object with any of clock, ids, random, onProblem'],
  ['events', absentOr((given) => isRecord(given) && typeof given['emit'] === 'function'), 'an event bus, as createEventBus() makes'],
];

/** Refuses what cannot work, and options that there are not: a misspelt one would be silently ignored. */
export function checkOptions(options: unknown, more: readonly string[] = []): void {
  if (!isRecord(options)) throw new InvalidArgumentError('Options are missing; pass at least { model }.');
  const known: readonly string[] = [...more, ...knownOptions];
  const strange = Object.keys(options).find((name) => !known.includes(name));
  if (strange !== undefined) throw new InvalidArgumentError(`There is no option "${strange}"; there are ${known.join(', ')}.`);
  const broken = rules.find(([option, isRight]) => !isRight(options[option]));
  if (broken !== undefined) throw new InvalidArgumentError(`${broken[0]} must be ${broken[2]}.`);
}

/** What was given, and the defaults for the rest. A limit that is undefined was not given. */
export function withDefaultLimits(defaults: ToolUseLimits, given: ToolUseLimits = {}): ToolUseLimits {
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, limit]) => limit !== undefined)) };
}

function checkModel(model: unknown, what: string): void {
  if (isRecord(model) && typeof model['generate'] === 'function' && typeof model['stream'] === 'function') return;
  throw new InvalidArgumentError(`${what} is no model. Wrap an AI SDK model with aiSdk() from stepline/ai-sdk, or pass one of your own.`);
}

function toModel({
  model,
  fallback = [],
  timeouts,
  ports,
}: Pick<ToolUseOptions<never>, 'model' | 'fallback' | 'timeouts' | 'ports'>): Model {
  checkModel(model, 'model');
  for (const [index, other] of fallback.entries()) checkModel(other, `fallback[${index}]`);
  const each = (one: Model): Model => (timeouts === undefined ? one : withTimeouts(one, timeouts, ports?.clock));
  return fallback.length === 0 ? each(model) : withFallback(each(model), fallback.map(each));
}

const asksForContext = (tool: Tool): boolean => tool.type === 'function' && tool.needsContext === true;

/** Checks the options and prepares what every step needs. */
export function toSetup<State extends ToolUseState>(name: string, options: AnyToolUseOptions<State>): Setup<unknown> {
  const { output, driver = toolCallingDriver(), price, limits, toolConcurrency } = options;
  const { onProblem } = options.ports ?? {};
  const { tools, hooks, instructions, criteria, capabilities } = addCapabilities(options);
  const set: ToolSet<unknown> = ToolSet.from(tools);
  const watchesCost = price !== undefined || limits?.costUsd !== undefined;
  return {
    name,
    model: toModel(options),
    settings: options.settings ?? {},
    tools: set,
    offered: set.schemas(),
    toolNames: set.names,
    // Holds, here and below: an orchestrator only runs states of its own kind, with the context that its parts need.
    instructions: instructions as readonly Instructions<unknown, ToolUseState>[],
    hooks: createChain({ name, hooks, onProblem, price, watchesCost }),
    capabilities,
    criteria: [...criteria, ...hooks.flatMap(({ guard }) => guard ?? [])] as Setup<unknown>['criteria'],
    output: output === undefined ? undefined : toAnswerSchema(output),
    driver,
    price,
    watchesCost,
    onUnknown: options.onUnknown ?? 'tell',
    toolConcurrency,
    isStreaming: options.streaming ?? true,
    needsContext: options.context !== undefined || tools.some(asksForContext) || hooks.some(({ needsContext }) => needsContext),
    onProblem,
  };
}
