// A limit that was reached: the run goes on if somebody grants more.
import type { ReactElement } from 'react';
import { useState } from 'react';
import type { AgentActions, ViewGrant, ViewWait } from 'stepline/ui';
import { nameLimit } from '../format/status.ts';
import { useDecision } from './use-decision.ts';
import { WaitCard } from './wait-card.tsx';

interface GrantField {
  readonly key: keyof ViewGrant;
  readonly label: string;
  /** Amount in the unit of the label. */
  readonly suggested: number;
  /** Turns the unit of the label into that of the field. */
  readonly factor: number;
  readonly step: number;
}

const fields: readonly GrantField[] = [
  { key: 'steps', label: 'Steps', suggested: 10, factor: 1, step: 1 },
  { key: 'tokens', label: 'Tokens', suggested: 50_000, factor: 1, step: 1 },
  { key: 'wall_ms', label: 'Minutes', suggested: 10, factor: 60_000, step: 1 },
  { key: 'active_ms', label: 'Active minutes', suggested: 10, factor: 60_000, step: 1 },
  { key: 'cost_usd', label: 'US dollars', suggested: 1, factor: 1, step: 0.01 },
];

const keys: Readonly<Record<string, keyof ViewGrant>> = {
  steps: 'steps',
  tokens: 'tokens',
  wall: 'wall_ms',
  active: 'active_ms',
  cost: 'cost_usd',
};

/** Finds the field for a limit. */
export function findGrantField(limit: string | undefined): GrantField {
  // Holds: the list is not empty.
  return fields.find(({ key }) => key === keys[limit ?? '']) ?? (fields[0] as GrantField);
}

/** Lets a person grant more of what ran out. */
export function GrantCard({
  wait,
  actions,
}: {
  readonly wait: ViewWait;
  readonly actions: Pick<AgentActions, 'grant' | 'reject'>;
}): ReactElement {
  const field = findGrantField(wait.limit);
  const [amount, setAmount] = useState(String(field.suggested));
  const action = useDecision(wait);
  const submit = (): void => {
    const value = Number(amount) * field.factor;
    if (!(value > 0)) action.setError('Write a number above 0.');
    else void action.run(() => actions.grant({ [field.key]: value }));
  };
  return (
    <WaitCard name={`Limit: ${wait.limit ?? 'unknown'}`} title={`More ${nameLimit(wait)} needed`} wait={wait} action={action}>
      <form
        className="wait-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <label className="inline">
          <span>{field.label} to add</span>
          <input type="number" min={0} step={field.step} value={amount} onChange={(event) => setAmount(event.target.value)} />
        </label>
        <div className="buttons">
          <button type="submit" className="button primary" disabled={action.isLocked}>
            Grant more
          </button>
          <button type="button" className="button" disabled={action.isLocked} onClick={() => void action.run(() => actions.reject(wait))}>
            End here
          </button>
        </div>
      </form>
    </WaitCard>
  );
}
