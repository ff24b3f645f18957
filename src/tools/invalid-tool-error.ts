import { SteplineError } from '../lib/index.ts';

/** A tool, or a set of tools, was declared in a way that cannot work. `toolName` says which. */
export class InvalidToolError extends SteplineError {
  override readonly name = 'InvalidToolError';
  readonly code = 'invalid-tool';
  readonly toolName: string;

  constructor(toolName: string, problem: string, cause?: unknown) {
    super(`Tool "${toolName}": ${problem}`, cause);
    this.toolName = toolName;
  }
}
