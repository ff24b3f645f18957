import { InvalidArgumentError, isRecord } from '../lib/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import type { Model, ModelSettings, OfferedTool, PriceOf } from '../inference/index.ts';
import { withFallback, withTimeouts } from '../inference/index.ts';
import type { AnswerSchema, ToolInput, Tools } from '../tools/index.ts';
import { toAnswerSchema, ToolSet } from '../tools/index.ts';
import type { Driver } from './driver.ts';
import { toolCallingDriver } from './drivers/tool-calling.ts';
import type { Instructions, ToolUseOptions } from './options.ts';
import type { ToolUseState } from './tool-use-state.ts';

/** The options, checked and made ready: what every step works with. */
export interface Setup<Context> {
  /** The kind of orchestrator, as events name it. */
  readonly name: string;
  readonly model: Model;
  readonly settings: ModelSettings;
  readonly tools: ToolSet<Context>;
  readonly offered: readonly OfferedTool[];
  readonly toolNames: readonly string[];
  readonly instructions: Instructions<Context, ToolUseState> | undefined;
  readonly output: AnswerSchema | undefined;
  readonly driver: Driver;
  readonly price: PriceOf | undefined;
  readonly watchesCost: boolean;
  readonly onUnknown: 'tell' | 'ask';
  readonly toolConcurrency: number | undefined;
  readonly isStreaming: boolean;
  readonly onProblem: ProblemReporter | undefined;
}

function checkModel(model: unknown, what: string): void {
  if (isRecord(model) && typeof model['generate'] === 'function' && typeof model['stream'] === 'function') return;
  throw new InvalidArgumentError(`${what} is no model. Wrap an AI SDK model with aiSdk() from stepline/ai-sdk, or pass one of your own.`);
}

function readyModel<State>({ model, fallback = [], timeouts, ports }: ToolUseOptions<State, never>): Model {
  checkModel(model, 'model');
  for (const [index, other] of fallback.entries()) checkModel(other, `fallback[${index}]`);
  const each = (one: Model): Model => (timeouts === undefined ? one : withTimeouts(one, timeouts, ports?.clock));
  return fallback.length === 0 ? each(model) : withFallback(each(model), fallback.map(each));
}

/** Makes the options ready, and refuses what cannot work. */
export function toSetup<State extends ToolUseState, Context, Given extends Tools, Output extends ToolInput>(
  name: string,
  options: ToolUseOptions<State, Context, Given, Output>,
): Setup<Context> {
  const { tools = [], instructions, output, driver = toolCallingDriver(), price, limits, toolConcurrency } = options;
  // Holds: the context that is given with each run is the one that the tools ask for.
  const set = ToolSet.from(tools) as ToolSet<Context>;
  if (instructions !== undefined && typeof instructions !== 'string' && typeof instructions !== 'function')
    throw new InvalidArgumentError('instructions must be text, or a function that returns it.');
  return {
    name,
    // Holds: none of what is read there depends on the context.
    model: readyModel(options as unknown as ToolUseOptions<State, never>),
    settings: options.settings ?? {},
    tools: set,
    offered: set.schemas(),
    toolNames: set.names,
    // Holds: the orchestrator only ever runs states of its own kind.
    instructions: instructions as Instructions<Context, ToolUseState> | undefined,
    output: output === undefined ? undefined : toAnswerSchema(output),
    driver,
    price,
    watchesCost: price !== undefined || limits?.costUsd !== undefined,
    onUnknown: options.onUnknown ?? 'tell',
    toolConcurrency,
    isStreaming: options.streaming ?? true,
    onProblem: options.ports?.onProblem,
  };
}
