// Handing over: a collaborator may give the next turn to another.
// H1. A handover counts once, for the turn after it, and only if its own turn completed.
import { EveryoneHasSpoken } from '../chat/index.ts';
import type { ContinuationEvaluation } from '../continuation/index.ts';
import { ContinuationDecision } from '../continuation/index.ts';
import type { CollaborationState } from './collaboration-state.ts';
import type { CollaborationStep } from './collaboration-step.ts';

/** Somebody who was handed the turn. */
export interface Handoff {
  readonly participant: string;
  readonly reason: string;
  readonly by: 'handoff';
}

/** Returns who was handed the next turn in this one; the last handover counts. */
export function getHandoff(step: CollaborationStep | undefined): Handoff | undefined {
  const { participant: from, changes = [], errors = [], interrupted } = step ?? {};
  const handoff = errors.length > 0 || interrupted !== undefined ? undefined : changes.findLast((change) => change.type === 'handoff');
  if (handoff === undefined || from === undefined) return undefined;
  return { participant: handoff.to, reason: `${from} handed over: ${handoff.reason}`, by: 'handoff' };
}

/** Requests another turn while somebody has not spoken since the last input, or was just handed the turn. */
export class AnswersHandoffs extends EveryoneHasSpoken {
  override isOpen(state: CollaborationState): boolean {
    return getHandoff(state.currentStep) !== undefined || super.isOpen(state);
  }

  override explain(state: CollaborationState): ContinuationEvaluation {
    const handoff = getHandoff(state.currentStep);
    const evaluation = super.explain(state);
    if (handoff === undefined || evaluation.decision === ContinuationDecision.RequestContinuation) return evaluation;
    return { ...evaluation, decision: ContinuationDecision.RequestContinuation, reason: handoff.reason };
  }
}
