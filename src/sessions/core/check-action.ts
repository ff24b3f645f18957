// Checks of an action before it is stored.
// V1. What passes here may still be refused when it is applied; what is refused here would be refused then.
import type { RunState } from '../../step-by-step/index.ts';
import type { ActionRequest } from './action.ts';
import { actionTable, findCondition } from './action-table.ts';
import type { AnswerContext } from './answers.ts';
import { applyRequest, checkAnswer, isAnswer } from './answers.ts';
import { CrashLoopError } from './errors.ts';
import { assertNewMessage, opensNext } from './message-rules.ts';
import type { SessionApproval } from './session-approvals.ts';
import { assertApproval } from './session-approvals.ts';

/** The session that an action is checked against. */
export interface ActionContext extends AnswerContext {
  readonly approvals: readonly SessionApproval[];
}

/** Returns the error of a session that waits because its step ended the process; undefined if it does not. */
export function findCrashLoop(sessionId: string, { execution, stepCount }: RunState): CrashLoopError | undefined {
  return execution.crashLoop && new CrashLoopError(sessionId, { ...execution.crashLoop, step: stepCount + 1 });
}

/** Throws if a session that waits after a crash loop refuses this action. */
export function assertNotLooping(sessionId: string, state: RunState, { type }: ActionRequest): void {
  const looping = findCrashLoop(sessionId, state);
  if (looping !== undefined && actionTable[type]['crash-loop'] === looping.code) throw looping;
}

/** Throws if a session refuses an action in the condition that it is in. */
export async function checkAction(request: ActionRequest, context: ActionContext): Promise<void> {
  const { log, isRunning, approvals } = context;
  assertNotLooping(log.id, log.state, request);
  if (isAnswer(request)) return checkAnswer(request, context);
  if (request.type === 'send') assertNewMessage(log.state, request.message['id'], log.queued);
  const answer = actionTable[request.type][findCondition(log.state, isRunning)];
  if (answer === 'queued' || answer === 'ignored' || opensNext(request, log.state, isRunning)) return;
  if (request.type === 'revoke') assertApproval(approvals, request.approvalId);
  // Throws if it cannot be applied.
  applyRequest(log.state, request);
}
