import type { ReactElement } from 'react';
import type { AgentActions, ViewWait } from 'stepline/ui';
import { Icon } from '../app/icons.tsx';
import { formatTime } from '../format/format.ts';
import { ApprovalCard } from './approval-card.tsx';
import { CrashCard } from './crash-card.tsx';
import { GrantCard } from './grant-card.tsx';
import { QuestionCard } from './question-card.tsx';

function ProviderNote({ wait }: { readonly wait: ViewWait }): ReactElement {
  const { next_try_at, reason } = wait;
  return (
    <div className="status-note warn">
      <Icon name="clock" />
      <p>
        Waiting for the model’s provider{reason === undefined ? '' : `: ${reason}`}.
        {next_try_at !== undefined && ` Next try at ${formatTime(next_try_at, Date.now())}.`}
      </p>
    </div>
  );
}

function WaitItem({ wait, actions }: { readonly wait: ViewWait; readonly actions: AgentActions }): ReactElement {
  switch (wait.type) {
    case 'approval':
      return <ApprovalCard wait={wait} actions={actions} />;
    case 'grant':
      return <GrantCard wait={wait} actions={actions} />;
    case 'provider':
      return <ProviderNote wait={wait} />;
    case 'person':
      if (wait.reason === 'crash-loop') return <CrashCard wait={wait} actions={actions} />;
      return <QuestionCard wait={wait} actions={actions} />;
    default:
      return <QuestionCard wait={wait} actions={actions} />;
  }
}

/** Everything that the session waits for. */
export function WaitList({ waits, actions }: { readonly waits: readonly ViewWait[]; readonly actions: AgentActions }): ReactElement {
  return (
    <div className="waits">
      {waits.map((wait) => (
        <WaitItem key={`${wait.wait_id} ${wait.digest ?? ''}`} wait={wait} actions={actions} />
      ))}
    </div>
  );
}
