// Why the session is in the state that it is in.
import type { ReactElement } from 'react';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { UseAgentResult } from 'stepline/react';
import type { StepDecision } from 'stepline/ui';
import { Virtualizer } from 'virtua';
import { formatCount } from '../format/format.ts';
import { describeStatus } from '../format/status.ts';
import { adviseNext } from './advice.ts';
import { describeDecider } from './decided-by.ts';
import { MeterBar } from './meter-bar.tsx';
import { StepRow } from './step-row.tsx';
import { findQuestions, toRows } from './to-rows.ts';

function UsageFacts({ usage }: { readonly usage: UseAgentResult['usage'] }): ReactElement | null {
  const { input = 0, output = 0, total = input + output } = usage;
  if (total === 0) return null;
  const facts = [
    ['Tokens in', input],
    ['Tokens out', output],
    ['Total', total],
  ] as const;
  return (
    <dl className="usage">
      {facts.map(([name, count]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{formatCount(count)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Meters of the newest step, while the run goes on. */
function CurrentMeters({ step }: { readonly step: StepDecision | undefined }): ReactElement | null {
  const metered = step?.evaluations.filter(({ meter }) => meter !== undefined) ?? [];
  if (metered.length === 0) return null;
  return (
    <div className="current-meters">
      {metered.map(({ meter, criterion }) => meter && <MeterBar key={criterion} meter={meter} criterion={criterion} />)}
    </div>
  );
}

/** Says in which steps of the newest run a process ended; undefined if none did. */
function describeCrashes(steps: readonly StepDecision[]): string | undefined {
  const run = steps.at(-1)?.execution_id;
  const numbers = steps.flatMap(({ execution_id, step_number, resumed }) =>
    resumed === true && execution_id === run ? [String(step_number)] : [],
  );
  return numbers.length === 0 ? undefined : `The worker ended; another one took over and resumed step ${numbers.join(', ')}.`;
}

function WhyTop({ agent, newest }: { readonly agent: UseAgentResult; readonly newest: StepDecision | undefined }): ReactElement {
  const { why, status, waits, usage } = agent;
  const isRunning = status === 'in_progress';
  const { text } = describeStatus(status, waits, why.stop_reason);
  const decider = isRunning ? undefined : describeDecider(why);
  const crashes = describeCrashes(why.steps);
  return (
    <>
      <h2>{isRunning || why.sentence === '' ? text : why.sentence}</h2>
      {decider !== undefined && (
        <p>
          <span className="label">Decided by</span> {decider}
        </p>
      )}
      {crashes !== undefined && <p>{crashes}</p>}
      <p>
        <span className="label">Next:</span> {adviseNext(status, why)}
      </p>
      {isRunning || why.meter === undefined ? <CurrentMeters step={newest} /> : <MeterBar meter={why.meter} criterion={why.resolved_by} />}
      <UsageFacts usage={usage} />
    </>
  );
}

/** Headline, who decided, what to do next, and every step with its evaluations, newest first. */
export function WhyPanel({ agent }: { readonly agent: UseAgentResult }): ReactElement {
  const { why, messages, waits } = agent;
  const { steps } = why;
  const isPaused = waits[0]?.type === 'grant';
  const rows = useMemo(() => toRows(steps, { questions: findQuestions(messages), isPaused }), [steps, messages, isPaused]);
  const scroller = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const [topHeight, setTopHeight] = useState(0);
  useLayoutEffect(() => {
    if (top.current === null) return;
    const observer = new ResizeObserver(([entry]) => setTopHeight(Math.round(entry?.borderBoxSize[0]?.blockSize ?? 0)));
    observer.observe(top.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={scroller} className="why-scroller" tabIndex={0} role="group" aria-label="Reasons">
      <div ref={top} className="why-top">
        <WhyTop agent={agent} newest={steps.at(-1)} />
        <h3>{steps.length === 0 ? 'Steps' : `Steps, newest first (${formatCount(steps.length)})`}</h3>
        {steps.length === 0 && <p className="note">None yet. Each step will be listed here, with the criteria that decided after it.</p>}
      </div>
      <Virtualizer scrollRef={scroller} data={rows} startMargin={topHeight}>
        {(row) =>
          row.type === 'divider' ? (
            <h4 key={row.key} className="step-divider">
              {row.text}
            </h4>
          ) : (
            <StepRow key={row.key} step={row.step} isPaused={row.isPaused} />
          )
        }
      </Virtualizer>
    </div>
  );
}
