import { SteplineError } from '../lib/index.ts';

/** A tool, or a set of tools, was declared in a way that cannot work. `toolName` says which. */
export class InvalidToolError extends SteplineError {
  override readonly name = 'InvalidToolError';
  readonly code = 'invalid-tool';
  readonly toolName: string;

  constructor(toolName: string, problem: string, cause?: unknown) {
    // A caller without a compiler may pass anything as the name.
    super(typeof toolName === 'string' && toolName !== '' ? `Tool "${toolName}": ${problem}` : `Unnamed tool: ${problem}`, cause);
    this.toolName = toolName;
  }
}
