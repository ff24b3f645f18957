import type { ReactElement } from 'react';
import { useLate } from '../app/use-late.ts';

/** Time after which it is worth saying that nobody has taken a decision up. */
const lateMs = 3_000;

/** Says that a decision has been sent: until a worker takes it up, nothing else on the page changes. */
export function SentNote(): ReactElement {
  const isLate = useLate(lateMs);
  return (
    <p className="note" role="status">
      {isLate ? 'Your decision is stored. No worker has taken it up yet; one will as soon as it runs.' : 'Sent.'}
    </p>
  );
}
