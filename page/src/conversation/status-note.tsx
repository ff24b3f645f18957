import type { ReactElement } from 'react';
import type { StatusViewMessage } from 'stepline/ui';
import type { IconName } from '../app/icons.tsx';
import { Icon } from '../app/icons.tsx';
import { nameAuthor } from './author.ts';

function toLook({ status_type, retry, continuation }: StatusViewMessage): { readonly icon: IconName; readonly tone: string } {
  if (retry !== undefined) return { icon: 'retry', tone: 'slight' };
  if (status_type === 'error') return { icon: 'warning', tone: 'bad' };
  if (status_type === 'continuation') return { icon: 'stop', tone: continuation?.stop_reason === 'user_requested' ? 'calm' : 'warn' };
  return { icon: 'info', tone: 'calm' };
}

/** A note about the run itself: why it stopped, retries, actions of people. */
export function StatusNote({ message }: { readonly message: StatusViewMessage }): ReactElement {
  const { status_type, text, by } = message;
  if (status_type === 'thinking')
    return (
      <p className="thinking">
        <span className="dots" aria-hidden="true" />
        {text}
      </p>
    );
  const { icon, tone } = toLook(message);
  return (
    <div className={`status-note ${tone}`}>
      <Icon name={icon} />
      <p>
        {text}
        {by !== undefined && !text.includes(by.id) && <span className="note"> By {nameAuthor(by)}.</span>}
      </p>
    </div>
  );
}
