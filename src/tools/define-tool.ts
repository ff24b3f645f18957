import type { ApprovalScope } from './approval-scope.ts';
import { EffectClass } from '../effects/index.ts';
import { omitUndefined } from '../lib/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import type { ToolDescription } from './describe-tool.ts';
import { describeTool } from './describe-tool.ts';
import type { FunctionTool } from './tool.ts';
import type { ArgsOf, BesideInput, ToolInput } from './tool-input.ts';
import type { AllowedReturn, CallResult, FunctionToolOptions } from './tool-options.ts';

const options = ['context', 'run', 'timeoutMs', 'effect', 'needsApproval', 'approvalScope', 'reconcile'];

/** The context as the options say it: the place of the declaration, such as a list of any tools, must not decide which one is needed. */
type DeclaredContext<Context> = [Context] extends [infer Known] ? Known : never;

type GivenOptions = ToolDescription & Partial<Pick<FunctionTool, 'effect' | 'needsApproval' | 'approvalScope' | 'timeoutMs' | 'reconcile'>>;

function findScopeProblem({
  approvalScope,
  effect,
  needsApproval,
}: Pick<FunctionTool, 'effect' | 'needsApproval'> & { readonly approvalScope: ApprovalScope | undefined }): string | undefined {
  if (approvalScope === undefined) return undefined;
  if (needsApproval === false) return 'approvalScope has no effect without needsApproval. Set needsApproval, or leave approvalScope out.';
  if (approvalScope.arguments === 'any' && effect === EffectClass.Once)
    return "approvalScope.arguments must be 'exact' for a tool with the effect 'once': nobody may approve calls of it that nobody has seen.";
  return undefined;
}

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
  const { run, effect = EffectClass.Once, needsApproval = false, approvalScope, context, timeoutMs, reconcile } = given;
  const described = describeTool(given, { maker: 'defineTool()', options });
  const problem = findScopeProblem({ approvalScope, effect, needsApproval });
  if (problem !== undefined) throw new InvalidToolError(given.name, problem);
  return Object.freeze({
    type: 'function',
    ...described,
    run,
    effect,
    needsApproval,
    ...omitUndefined({ needsContext: context === undefined ? undefined : true, timeoutMs, approvalScope, reconcile }),
  });
}
