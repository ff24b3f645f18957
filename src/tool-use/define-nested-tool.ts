import type { ArgsOf, ToolInput, NestedTool } from '../tools/index.ts';
import { describeTool } from '../tools/index.ts';
import type { NestedHost, NestedResult } from './carry-on-nested.ts';

/** How a tool is declared whose work is a run of its own. */
export interface NestedToolOptions<Input extends ToolInput> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  /** Begins the run, or takes it up again where the host has a memo. */
  readonly carryOn: (args: ArgsOf<Input>, host: NestedHost) => Promise<NestedResult>;
}

/** Declares a tool whose work is a run of its own: it may wait for people, and shares budget, end and events with the run around it. */
export function defineNestedTool<Returned, const Input extends ToolInput = ToolInput>(
  options: NestedToolOptions<Input>,
): NestedTool<ArgsOf<Input>, Returned, NestedHost> {
  const { carryOn, ...described } = options;
  return Object.freeze({ ...describeTool(described, { maker: 'defineNestedTool()' }), type: 'nested', carryOn });
}
