import type { ArgsOf, NestedTool, ToolInput } from '../tools/index.ts';
import { describeTool } from '../tools/index.ts';
import type { NestedHost, NestedResult } from './run-nested-call.ts';
import { startNestedCall } from './start-nested-call.ts';

/** Options of a tool whose work is a run of its own. */
export interface NestedToolOptions<Input extends ToolInput> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  /** Starts the run, or resumes it if the host has a memo. */
  readonly run: (args: ArgsOf<Input>, host: NestedHost) => Promise<NestedResult>;
  readonly checkInner?: NestedTool['checkInner'];
}

/** Declares a tool whose work is a run of its own: it may wait for people, and shares budget, end and events with the run around it. */
export function defineNestedTool<Returned, const Input extends ToolInput = ToolInput>(
  options: NestedToolOptions<Input>,
): NestedTool<ArgsOf<Input>, Returned, NestedHost> {
  const { run, checkInner, ...described } = options;
  return Object.freeze({
    ...describeTool(described, { maker: 'defineNestedTool()' }),
    type: 'nested',
    run,
    checkInner,
    start: startNestedCall,
  });
}
