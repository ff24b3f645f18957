import { EffectClass } from '../effects/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { ToolDescription } from './describe-tool.ts';
import { describeTool } from './describe-tool.ts';
import type { FunctionTool } from './tool.ts';
import type { ArgsOf, BesideInput, ToolInput } from './tool-input.ts';
import type { AllowedReturn, CallResult, FunctionToolOptions } from './tool-options.ts';

const options = ['context', 'run', 'timeoutMs', 'effect', 'needsApproval', 'reconcile'];

/** The context as the options say it: the place of the declaration, such as a list of any tools, must not decide which one is needed. */
type DeclaredContext<Context> = [Context] extends [infer Known] ? Known : never;

type GivenOptions = ToolDescription & Partial<Pick<FunctionTool, 'effect' | 'needsApproval' | 'timeoutMs' | 'reconcile'>>;

/**
 * Declares a tool that runs here. The types of its arguments and its result are read from the schemas and from `run`.
 * With an `output` schema, `run` must return what that schema takes; write literals that it lists with `as const`.
 */
export function defineTool<
  const Input extends ToolInput,
  Returned extends AllowedReturn<Output>,
  Context = unknown,
  const Output extends ToolInput | undefined = undefined,
>(
  given: FunctionToolOptions<Input, Returned, Context, Output> & BesideInput<Input>,
): FunctionTool<ArgsOf<Input>, CallResult<Returned, Output>, DeclaredContext<Context>>;
export function defineTool(given: GivenOptions & { readonly run: FunctionTool['run']; readonly context?: unknown }): FunctionTool {
  const { run, effect = EffectClass.Once, needsApproval = false, context, timeoutMs, reconcile } = given;
  return Object.freeze({
    type: 'function',
    ...describeTool(given, { maker: 'defineTool()', options }),
    run,
    effect,
    needsApproval,
    ...omitUndefined({ needsContext: context === undefined ? undefined : true, timeoutMs, reconcile }),
  });
}
