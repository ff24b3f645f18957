// One message of a conversation.
import type { ReactElement } from 'react';
import { memo } from 'react';
import type { AssistantViewMessage, UserViewMessage, ViewMessage } from 'stepline/ui';
import { formatTime } from '../format/format.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { nameSender } from './author.ts';
import { StatusNote } from './status-note.tsx';
import { ToolBlock } from './tool-block.tsx';

function Time({ iso }: { readonly iso: string }): ReactElement {
  return (
    <time dateTime={iso} title={new Date(iso).toLocaleString()}>
      {formatTime(iso, Date.now())}
    </time>
  );
}

function UserMessage({ message }: { readonly message: UserViewMessage }): ReactElement {
  const { text, attachments, timestamp } = message;
  return (
    <div className="user-message">
      <p className="byline">
        <strong>{nameSender(message)}</strong> <Time iso={timestamp} />
      </p>
      <div className="bubble">
        <p className="plain">{text}</p>
        {attachments !== undefined && <p className="note">{attachments === 1 ? '1 attachment' : `${attachments} attachments`}</p>}
      </div>
    </div>
  );
}

function AssistantMessage({ message }: { readonly message: AssistantViewMessage }): ReactElement {
  const { text, reasoning, interrupted, provisional, timestamp } = message;
  return (
    <div className="assistant-message">
      <p className="byline">
        <strong>{nameSender(message)}</strong> <Time iso={timestamp} />
      </p>
      {reasoning !== undefined && (
        <details className="thoughts">
          <summary>Thoughts</summary>
          <p className="plain">{reasoning}</p>
        </details>
      )}
      {text !== '' && <Markdown text={text} />}
      {provisional === true && <span className="caret" aria-hidden="true" />}
      {interrupted !== undefined && <p className="note">The text broke off: {interrupted}</p>}
    </div>
  );
}

function MessageBody({ message }: { readonly message: ViewMessage }): ReactElement {
  switch (message.role) {
    case 'user':
      return <UserMessage message={message} />;
    case 'assistant':
      return <AssistantMessage message={message} />;
    case 'tool':
      return <ToolBlock message={message} />;
    case 'status':
      return <StatusNote message={message} />;
  }
}

/** A message. One that has not changed is the same object, and is not drawn again. */
export const MessageView = memo(function MessageView({ message }: { readonly message: ViewMessage }): ReactElement {
  const isNested = message.parent_agent_id !== undefined;
  return (
    <article
      className={`message ${message.role}${isNested ? ' nested' : ''}`}
      aria-label={message.role === 'status' ? 'Status message' : `${message.role === 'tool' ? 'Call by ' : ''}${nameSender(message)}`}
      aria-busy={message.provisional === true ? true : undefined}
    >
      <MessageBody message={message} />
    </article>
  );
});
