// Steps from what a lossy payload shows of them.
// V1. There are as many results as steps were taken, so that limits keep counting. Steps that are not in the payload are empty.
// V2. Status, stop reason and waits are those of the payload.
import type { ContinuationEvaluation } from '../../continuation/index.ts';
import { AtLimit, ContinuationDecision, ContinuationOutcome, LimitKind, StopReason } from '../../continuation/index.ts';
import type { Failure } from '../../errors/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import { Usage } from '../../messages/index.ts';
import { StepResult } from '../../step-by-step/index.ts';
import type { ToolUseStep } from '../../tool-use/index.ts';
import { StepType } from '../../tool-use/index.ts';
import type { SlimContinuation, SlimEvaluation } from './slim-continuation.ts';
import type { LossySlimPayload } from './slim-payload.ts';
import type { SlimFailure, SlimStep } from './slim-step.ts';
import { toStoredUsage } from './slim-usage.ts';

/** Criterion named in the outcome of a step about which the payload does not say more. */
const unshown = 'SlimPayload';

const unshownOutcome = ContinuationOutcome.fromEvaluations([
  {
    criterion: unshown,
    decision: ContinuationDecision.RequestContinuation,
    reason: 'the payload does not say why the run continued',
    context: {},
  },
]);

const restoreFailure = ({ type, code, message = 'left out of the payload', tool_name }: SlimFailure): Failure =>
  omitUndefined({ type, code, message, retryable: false, toolName: tool_name });

const limitsByReason: Partial<Record<StopReason, LimitKind>> = {
  [StopReason.StepsLimitReached]: LimitKind.Steps,
  [StopReason.TokenLimitReached]: LimitKind.Tokens,
  [StopReason.TimeLimitReached]: LimitKind.Wall,
};

function restoreEvaluation(evaluation: SlimEvaluation, awaited: ReadonlySet<LimitKind>): ContinuationEvaluation {
  const { criterion, decision, reason, stop_reason, limit } = evaluation;
  const isPause = limit !== undefined && decision === ContinuationDecision.ForbidContinuation && awaited.has(limit);
  return omitUndefined({
    criterion,
    decision,
    reason,
    stopReason: stop_reason,
    limit,
    atLimit: isPause ? AtLimit.Pause : undefined,
    context: {},
  });
}

/** Evaluations for a decision of which only the criterion and its reason are shown. */
function restoreDecision(
  { resolved_by, decision, reason = 'the payload does not say', stop_reason }: SlimContinuation,
  { status, waiting_for }: LossySlimPayload,
): readonly SlimEvaluation[] {
  const awaited = waiting_for.flatMap(({ limit }) => (limit === undefined ? [] : [limit]));
  const limit = awaited[0] ?? (stop_reason === null ? undefined : limitsByReason[stop_reason]);
  const decided = omitUndefined({ criterion: resolved_by, decision, reason, stop_reason: stop_reason ?? undefined, limit });
  const others = awaited.slice(1).map((kind) => ({ ...decided, criterion: `${resolved_by} (${kind})`, limit: kind }));
  // The work was done in the step that reached a limit.
  const isDone = status === 'completed' && decision === ContinuationDecision.ForbidContinuation;
  const done = { criterion: unshown, decision: ContinuationDecision.AllowStop, reason: 'the work was done in the same step' };
  return [decided, ...others, ...(isDone ? [done] : [])];
}

/** Returns the last outcome; undefined if nothing was decided yet. */
export function restoreOutcome(payload: LossySlimPayload): ContinuationOutcome | undefined {
  const { last_continuation: last, waiting_for } = payload;
  if (last === null) return undefined;
  const awaited = new Set(waiting_for.flatMap(({ limit }) => (limit === undefined ? [] : [limit])));
  const evaluations = last.evaluations ?? restoreDecision(last, payload);
  return ContinuationOutcome.fromEvaluations(evaluations.map((evaluation) => restoreEvaluation(evaluation, awaited)));
}

const emptyStep = (id: string): ToolUseStep => ({
  id,
  outputMessages: [],
  usage: Usage.none(),
  errors: [],
  stepType: StepType.ToolExecution,
  toolCalls: [],
  executions: [],
});

/** Returns a step with the fields that a payload shows. */
export function restoreStep(slim: SlimStep, id: string): ToolUseStep {
  return omitUndefined({
    ...emptyStep(id),
    usage: Usage.fromJSON(toStoredUsage(slim.usage)),
    errors: slim.errors.map(restoreFailure),
    stepType: slim.type,
    finishReason: slim.finish_reason ?? undefined,
    hasToolCalls: slim.has_tool_calls || undefined,
    interrupted: slim.interrupted,
    model: slim.model,
  });
}

const parseTime = (text: string | null | undefined, other: number): number =>
  text === undefined || text === null ? other : Date.parse(text);

/** True for a step that was recorded: not for one that waits or is being judged. */
const isRecorded = ({ ended_at }: SlimStep): boolean => ended_at !== null;

/** Returns the results of the execution. `last` is what the last step said, if that is in the conversation. */
export function restoreResults(
  payload: LossySlimPayload,
  executionId: string,
  last: Message | undefined,
): readonly StepResult<ToolUseStep>[] {
  const { steps, current_step, execution } = payload;
  const shown = new Map(
    [...steps, ...(current_step === null ? [] : [current_step])].filter(isRecorded).map((step) => [step.step_number, step]),
  );
  const isJudged = current_step !== null && current_step.ended_at === null && current_step.started_at === null;
  const count = execution.step_count - (isJudged ? 1 : 0);
  const updatedAt = Date.parse(execution.updated_at);
  return Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const slim = shown.get(number);
    const id = `${executionId}/${String(number)}`;
    const step = slim === undefined ? emptyStep(id) : restoreStep(slim, id);
    const isLast = number === count;
    const endedAt = parseTime(slim?.ended_at, updatedAt);
    const shownStep = isLast && last !== undefined ? { ...step, outputMessages: [last] } : step;
    const outcome = (isLast ? restoreOutcome(payload) : restoreTrace(slim)) ?? unshownOutcome;
    return new StepResult(shownStep, outcome, {
      number,
      timing: { startedAt: parseTime(slim?.started_at, endedAt), endedAt, activeMs: slim?.duration_ms ?? 0, waitedMs: 0 },
    });
  });
}

function restoreTrace(slim: SlimStep | undefined): ContinuationOutcome | undefined {
  if (slim?.evaluations === undefined) return undefined;
  return ContinuationOutcome.fromEvaluations(slim.evaluations.map((evaluation) => restoreEvaluation(evaluation, new Set())));
}
