import { ErrorPolicy } from '../errors/index.ts';
import type { StateType } from '../step-by-step/index.ts';
import type { ContextNeeded, ToolInput, Tools } from '../tools/index.ts';
import type { ToolUseOrchestrator } from './create-tool-use.ts';
import { createToolUse } from './create-tool-use.ts';
import type { AnyToolUseOptions, ParsedOutput, ToolUseLimits, ToolUseOptions } from './options.ts';
import { ToolUseState } from './tool-use-state.ts';

/** Limits of a small tool loop. */
const defaultLimits: ToolUseLimits = { steps: 3, tokens: 8192, wallMs: 30_000 };

/** Kind of state, for programs that read stored states without running them. */
export const toolUseStates: StateType<ToolUseState> = {
  ...ToolUseState.codec,
  empty: (options) => ToolUseState.empty(options),
  is: (value) => value instanceof ToolUseState,
};

/** A model and its tools, without an identity of its own: the loop inside larger orchestrators. */
export type ToolUse<Given extends Tools = Tools, Output = unknown, Context = unknown> = ToolUseOrchestrator<
  ToolUseState,
  Given,
  Output,
  Context
>;

interface ToolUseConstructor {
  new <Context = unknown, const Given extends Tools = Tools, const Output extends ToolInput = ToolInput>(
    options: ToolUseOptions<ToolUseState, Context, Given, Output>,
  ): ToolUse<Given, ParsedOutput<Output>, Context & ContextNeeded<Given>>;
}

/** Creates a ToolUse of options whose types are not known. */
export function createPlainToolUse(options: AnyToolUseOptions<ToolUseState>): ToolUse {
  const kind = {
    maker: 'new ToolUse()',
    name: 'tool-use',
    states: toolUseStates,
    limits: defaultLimits,
    policy: () => ErrorPolicy.stopOnAnyError(),
  };
  return createToolUse(options, kind).orchestrator;
}

/** Stops after 3 steps, 8,192 tokens or 30 seconds, and at any failure, unless configured otherwise. */
// Holds: a function that returns an object may be called with new.
export const ToolUse = createPlainToolUse as unknown as ToolUseConstructor;
