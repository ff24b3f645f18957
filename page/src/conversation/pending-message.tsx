import type { ReactElement } from 'react';
import type { ViewMessage } from 'stepline/ui';
import { useLate } from '../app/use-late.ts';

/** A message that the server has accepted. */
export interface SentMessage {
  readonly text: string;
  /** Number of messages by people before it. */
  readonly before: number;
}

export const countUserMessages = (messages: readonly ViewMessage[]): number => messages.filter(({ role }) => role === 'user').length;

/** A worker takes a message up within a moment; nobody should see this then. */
const lateMs = 1_500;

/** Shows a message that no worker has taken up yet: without it, it would seem lost. */
export function PendingMessage({ sent }: { readonly sent: SentMessage }): ReactElement | null {
  const isLate = useLate(lateMs);
  if (!isLate) return null;
  return (
    <div className="user-message" role="status">
      <div className="bubble">
        <p className="plain">{sent.text}</p>
      </div>
      <p className="note">Stored. No worker has taken it up yet; one will as soon as it runs.</p>
    </div>
  );
}
