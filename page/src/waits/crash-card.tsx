// A step that ended its process each time: somebody decides whether it is tried again.
import type { ReactElement } from 'react';
import type { AgentActions, ViewWait } from 'stepline/ui';
import { useDecision } from './use-decision.ts';
import { WaitCard } from './wait-card.tsx';

interface CrashCardProps {
  readonly wait: ViewWait;
  readonly actions: Pick<AgentActions, 'resume' | 'cancel'>;
}

/** Lets a person try a step again, or end the run. */
export function CrashCard({ wait: { reason: _, ...wait }, actions }: CrashCardProps): ReactElement {
  const action = useDecision(wait);
  return (
    <WaitCard name="Step that ended its process" title="A step ended its process each time" wait={wait} action={action}>
      <p className="plain">Find out why before you try it again: it may end the process of other sessions too.</p>
      <div className="buttons">
        <button type="button" className="button primary" disabled={action.isLocked} onClick={() => void action.run(() => actions.resume())}>
          Try again
        </button>
        <button
          type="button"
          className="button"
          disabled={action.isLocked}
          onClick={() => void action.run(() => actions.cancel('the person ended it after a crash loop'))}
        >
          End here
        </button>
      </div>
    </WaitCard>
  );
}
