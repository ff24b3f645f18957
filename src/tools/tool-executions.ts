import type { Failure } from '../errors/index.ts';
import type { ToolExecution } from './tool-execution.ts';

/** The executions of a step's calls, in the order of the calls. A readonly list that finds failures. */
export class ToolExecutions implements Iterable<ToolExecution> {
  readonly #list: readonly ToolExecution[];

  constructor(executions: Iterable<ToolExecution> = []) {
    this.#list = Object.freeze([...executions]);
  }

  get length(): number {
    return this.#list.length;
  }

  /** True if a call failed. Rejected and cancelled calls have not failed. */
  get hasErrors(): boolean {
    return this.#firstFailed !== undefined;
  }

  /** The failure of the first call that failed. */
  get firstError(): Failure | undefined {
    return this.#firstFailed?.failure;
  }

  /** The name of the tool whose call failed first. */
  get firstErrorToolName(): string | undefined {
    return this.#firstFailed?.toolName;
  }

  at(index: number): ToolExecution | undefined {
    return this.#list.at(index);
  }

  [Symbol.iterator](): Iterator<ToolExecution> {
    return this.#list[Symbol.iterator]();
  }

  toArray(): readonly ToolExecution[] {
    return this.#list;
  }

  toJSON(): readonly ToolExecution[] {
    return this.#list;
  }

  get #firstFailed(): ToolExecution | undefined {
    return this.#list.find(({ status }) => status === 'failed');
  }
}
