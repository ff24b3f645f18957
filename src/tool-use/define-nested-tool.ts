import type { ArgsOf, ToolInput, NestedTool } from '../tools/index.ts';
import { defineTool } from '../tools/index.ts';
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
  const { type: _, ...shared } = defineTool(described as never) as { readonly type: string };
  // Holds: what was described is all there is to a tool beside how it is carried out.
  return Object.freeze({
    ...(shared as Omit<NestedTool<ArgsOf<Input>, Returned, NestedHost>, 'type' | 'carryOn'>),
    type: 'nested',
    carryOn,
  });
}
