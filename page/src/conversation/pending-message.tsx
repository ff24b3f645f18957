import type { ReactElement } from 'react';
import { useLate } from '../app/use-late.ts';

/** A worker takes a message up within a moment; nobody should see this then. */
const lateMs = 1_500;

/** Shows a message that no worker has taken up yet: without it, it would seem lost. */
export function PendingMessage({ text }: { readonly text: string }): ReactElement | null {
  const isLate = useLate(lateMs);
  if (!isLate) return null;
  return (
    <div className="user-message" role="status">
      <div className="bubble">
        <p className="plain">{text}</p>
      </div>
      <p className="note">Stored. No worker has taken it up yet; one will as soon as it runs.</p>
    </div>
  );
}
