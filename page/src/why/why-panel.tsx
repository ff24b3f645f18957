// Why the session is in the state that it is in.
import type { ReactElement } from 'react';
import { useMemo, useRef } from 'react';
import type { UseAgentResult } from 'stepline/react';
import { Virtualizer } from 'virtua';
import { formatCount } from '../format/format.ts';
import { describeStatus } from '../format/status.ts';
import { adviseNext } from './advice.ts';
import { MeterBar } from './meter-bar.tsx';
import { nameCriterion } from './name-criterion.ts';
import { StepRow } from './step-row.tsx';

function UsageFacts({ usage }: { readonly usage: UseAgentResult['usage'] }): ReactElement | null {
  const { input = 0, output = 0, total = input + output } = usage;
  if (total === 0) return null;
  return (
    <dl className="usage">
      <div>
        <dt>Tokens in</dt>
        <dd>{formatCount(input)}</dd>
      </div>
      <div>
        <dt>Tokens out</dt>
        <dd>{formatCount(output)}</dd>
      </div>
      <div>
        <dt>Total</dt>
        <dd>{formatCount(total)}</dd>
      </div>
    </dl>
  );
}

/** Headline, who decided, what to do next, and every step with its evaluations, newest first. */
export function WhyPanel({ agent }: { readonly agent: UseAgentResult }): ReactElement {
  const { why, status, waits, usage } = agent;
  const scroller = useRef<HTMLDivElement>(null);
  const steps = useMemo(() => why.steps.toReversed(), [why.steps]);
  const { text } = describeStatus(status, waits, why.stop_reason);
  const headline = status === 'in_progress' || why.sentence === '' ? `${text}.` : why.sentence;
  const isAtRest = status !== 'in_progress';
  return (
    <div ref={scroller} className="why-scroller" tabIndex={0} role="group" aria-label="Reasons">
      <div className="why-top">
        <h2>{headline}</h2>
        {isAtRest && why.meter !== undefined && <MeterBar meter={why.meter} />}
        {isAtRest && why.resolved_by !== undefined && why.resolved_by !== '' && (
          <p>
            <span className="label">Decided by</span> {nameCriterion(why.resolved_by)}
          </p>
        )}
        <p>
          <span className="label">Next:</span> {adviseNext(status, why, waits)}
        </p>
        <UsageFacts usage={usage} />
        <h3>Steps</h3>
        {steps.length === 0 && (
          <p className="note">No step is recorded yet. Each one will be listed here, with the criteria that decided after it.</p>
        )}
      </div>
      <Virtualizer scrollRef={scroller} data={steps}>
        {(step) => <StepRow key={`${step.execution_id} ${step.step_number}`} step={step} />}
      </Virtualizer>
    </div>
  );
}
