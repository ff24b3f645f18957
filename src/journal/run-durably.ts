import { checkKeys, describeValue, InvalidArgumentError, isCleanText } from '../lib/index.ts';
import type { Message, MessageContent } from '../messages/index.ts';
import type { InferOutput, InferState, Orchestrator, RunResult } from '../step-by-step/index.ts';
import type { BoundedResult, BoundOptions, RunDurablyOptions } from './durable-options.ts';
import type { DurableRunOptions } from './durable-run.ts';
import { DurableRun } from './durable-run.ts';

const knownOptions = [
  ...['engine', 'executionId', 'context', 'signal', 'onEvent', 'onCommit', 'toNote', 'maxRecordBytes', 'maxSteps', 'leavesToWait', 'clock'],
  ...['between', 'beforeEnd', 'onOutage', 'onProblem', 'sessionId', 'stoppedBy', 'wallStartedAt'],
];

function checkOptions(options: DurableRunOptions): void {
  checkKeys('runDurably()', options, knownOptions);
  const { executionId, maxSteps = 1 }: { readonly executionId: unknown; readonly maxSteps?: unknown } = options;
  if (!isCleanText(executionId))
    throw new InvalidArgumentError(
      `executionId must be a non-empty string without NUL or lone surrogates, such as the workflow id, not ${describeValue(executionId)}. Pass the same one in every attempt.`,
    );
  if (!Number.isInteger(maxSteps) || Number(maxSteps) < 1)
    throw new InvalidArgumentError(`maxSteps must be a whole number from 1 on, not ${describeValue(maxSteps)}.`);
}

/** Runs an agent on the journal of an engine, with limited work per invocation: the result may be unfinished. */
export function runDurably<Given extends Orchestrator>(
  agent: Given,
  begin: MessageContent | Message | InferState<Given>,
  options: RunDurablyOptions<Given> & BoundOptions,
): Promise<BoundedResult<InferState<Given>, InferOutput<Given>>>;
/**
 * Runs an agent, a chat or a collaboration on the journal of an engine. After a crash, call it again with the same engine and the same
 * arguments: recorded steps do not run again.
 */
export function runDurably<Given extends Orchestrator>(
  agent: Given,
  begin: MessageContent | Message | InferState<Given>,
  options: RunDurablyOptions<Given>,
): Promise<RunResult<InferState<Given>, InferOutput<Given>>>;
export async function runDurably(
  agent: Orchestrator,
  begin: Parameters<DurableRun['run']>[0],
  options: DurableRunOptions,
): Promise<BoundedResult> {
  checkOptions(options);
  return new DurableRun(agent, options).run(begin);
}
