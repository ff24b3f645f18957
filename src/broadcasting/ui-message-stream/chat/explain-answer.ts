import type { Redactor } from '../../../lib/index.ts';
import type { Session } from '../../../sessions/index.ts';
import { explainEnd } from '../explain-end.ts';
import type { AnswerOutcome } from '../answer-types.ts';
import type { EventFields } from '../event-fields.ts';
import { toOutcome } from '../outcome.ts';

/** Explains the execution that an event ended. */
function explainExecution(session: Session, event: EventFields): string | undefined {
  const { state } = session;
  const { past, execution } = state.data;
  const { executionId } = event;
  if (execution.id === executionId) return session.explain();
  const found = past.toArray().find(({ id }) => id === executionId);
  return found === undefined ? undefined : state.evolve({ execution: found }).explain();
}

/** Returns the outcome of an answer, with the explanation that the session has. */
export function explainAnswer(session: Session, end: EventFields, redactor: Redactor): AnswerOutcome {
  return toOutcome(end, redactor.text(explainExecution(session, end) ?? explainEnd(end, redactor)));
}
