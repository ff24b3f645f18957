import type { ReactElement } from 'react';
import { memo } from 'react';
import type { StepDecision, ViewEvaluation } from 'stepline/ui';
import { Icon } from '../app/icons.tsx';
import { MeterBar } from './meter-bar.tsx';
import { describeCriterion } from './describe-criterion.ts';

const decisions: Readonly<Record<string, string>> = {
  forbid: 'forbids another step',
  allow: 'allows another step',
  request: 'asks for another step',
  stop: 'is done',
};

function EvaluationItem({ evaluation, isDeciding }: { readonly evaluation: ViewEvaluation; readonly isDeciding: boolean }): ReactElement {
  const { criterion, decision, reason, meter } = evaluation;
  return (
    <li className={isDeciding ? 'evaluation deciding' : 'evaluation'}>
      <p>
        <strong>{criterion}</strong> {decisions[decision] ?? decision}
        {isDeciding && <span className="tag">decided</span>}
      </p>
      {reason !== '' && <p className="note">{reason}</p>}
      {meter !== undefined && <MeterBar meter={meter} criterion={criterion} />}
    </li>
  );
}

/** Says what was decided after a step, in a word. */
export function describeDecision({ should_continue, stop_reason }: StepDecision, isPaused: boolean): string {
  if (should_continue) return 'Continued';
  if (isPaused) return 'Paused';
  return stop_reason === 'completed' ? 'Completed' : 'Stopped';
}

/** Returns the evaluations, that of the criterion that decided first. */
const putFirst = (evaluations: readonly ViewEvaluation[], decider: string): readonly ViewEvaluation[] => [
  ...evaluations.filter(({ criterion }) => criterion === decider),
  ...evaluations.filter(({ criterion }) => criterion !== decider),
];

/** Says why, in the words of the criterion that decided. */
function findReason({ evaluations, resolved_by }: StepDecision): string {
  const decided = evaluations.find(({ criterion }) => criterion === resolved_by);
  return decided === undefined || decided.reason === '' ? describeCriterion(resolved_by) : decided.reason;
}

/** One step: the decision after it, its meters, and behind a click every evaluation. */
export const StepRow = memo(function StepRow({
  step,
  isPaused,
}: {
  readonly step: StepDecision;
  readonly isPaused: boolean;
}): ReactElement {
  const { step_number, should_continue, evaluations, resolved_by, resumed } = step;
  const metered = evaluations.filter(({ meter }) => meter !== undefined);
  return (
    <div role="group" className="step-row" aria-label={`Step ${step_number}`}>
      <details>
        <summary>
          <Icon name="chevron" />
          <span className="step-number">Step {step_number}</span>
          <span className={should_continue ? 'step-decision' : 'step-decision ended'}>{describeDecision(step, isPaused)}</span>
        </summary>
        {evaluations.length === 0 ? (
          <p className="note">The server sends no evaluations. Set broadcast.includeContinuationTrace to see them here.</p>
        ) : (
          <ul className="evaluations">
            {putFirst(evaluations, resolved_by).map((evaluation, index) => (
              <EvaluationItem key={index} evaluation={evaluation} isDeciding={evaluation.criterion === resolved_by} />
            ))}
          </ul>
        )}
      </details>
      <p className="step-reason">{findReason(step)}</p>
      {resumed === true && <p className="step-reason">The worker ended in this step; another one took over and resumed it.</p>}
      {metered.length > 0 && (
        <div className="step-meters">
          {metered.map(({ meter, criterion }, index) => meter && <MeterBar key={index} meter={meter} criterion={criterion} />)}
        </div>
      )}
    </div>
  );
});
