// One message of a conversation.
import type { ReactElement } from 'react';
import { memo, use } from 'react';
import type { AssistantViewMessage, UserViewMessage, ViewMessage } from 'stepline/ui';
import { ErrorBoundary } from '../app/error-boundary.tsx';
import { formatTime } from '../format/format.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { AgentName } from './agent-name.ts';
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

const interruptions: Readonly<Record<string, string>> = {
  // Who stopped it is said below.
  signal: 'The text breaks off here.',
  request: 'The text breaks off here.',
  'stream-interrupted': 'The text broke off here: the connection to the model was lost.',
};

const describeInterruption = (reason: string): string => interruptions[reason] ?? `The text broke off here: ${reason}.`;

function AssistantMessage({
  message,
  isContinued,
}: {
  readonly message: AssistantViewMessage;
  readonly isContinued: boolean;
}): ReactElement {
  const { text, reasoning, interrupted, provisional, timestamp } = message;
  return (
    <div className="assistant-message">
      {!isContinued && (
        <p className="byline">
          <strong>{nameSender(message, use(AgentName))}</strong> <Time iso={timestamp} />
        </p>
      )}
      {reasoning !== undefined && (
        <details className="thoughts">
          <summary>Thoughts</summary>
          <p className="plain">{reasoning}</p>
        </details>
      )}
      {text !== '' && <Markdown text={text} isOpen={provisional === true} />}
      {provisional === true && text === '' && <span className="caret" aria-hidden="true" />}
      {interrupted !== undefined && <p className="note">{describeInterruption(interrupted)}</p>}
    </div>
  );
}

interface MessageProps {
  readonly message: ViewMessage;
  /** True if its author need not be named again. */
  readonly isContinued: boolean;
}

function MessageBody({ message, isContinued }: MessageProps): ReactElement {
  switch (message.role) {
    case 'user':
      return <UserMessage message={message} />;
    case 'assistant':
      return <AssistantMessage message={message} isContinued={isContinued} />;
    case 'tool':
      return <ToolBlock message={message} />;
    case 'status':
      return <StatusNote message={message} />;
  }
}

function nameMessage(message: ViewMessage): string {
  if (message.role === 'status') return 'Status';
  return message.role === 'tool' ? `Call by ${nameSender(message)}` : nameSender(message);
}

/** A message. One that has not changed is the same object, and is not drawn again. */
export const MessageView = memo(function MessageView({ message, isContinued }: MessageProps): ReactElement {
  const depth = Math.min(3, message.depth ?? (message.parent_agent_id === undefined ? 0 : 1));
  return (
    <article
      className={`message ${message.role}${depth > 0 ? ` nested depth-${depth}` : ''}`}
      aria-label={nameMessage(message)}
      aria-busy={message.provisional === true ? true : undefined}
    >
      <ErrorBoundary fallback={<p className="note">This message cannot be shown.</p>}>
        <MessageBody message={message} isContinued={isContinued} />
      </ErrorBoundary>
    </article>
  );
});
