// The messages of a conversation. Only those near the window are in the document.
import type { ReactElement, ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import type { ViewMessage } from 'stepline/ui';
import { Virtualizer } from 'virtua';
import { Icon } from '../app/icons.tsx';
import { isContinuation } from './author.ts';
import { MessageView } from './message-view.tsx';
import { ShowTop } from './show-top.ts';
import { useStickToEnd } from './use-stick-to-end.ts';

/** True if messages were added before the first one since the list was last drawn. */
function useIsPrepended(messages: readonly ViewMessage[]): boolean {
  const before = useRef<{ messages: readonly ViewMessage[]; isPrepended: boolean }>({ messages, isPrepended: false });
  if (before.current.messages !== messages) {
    const [first] = before.current.messages;
    const isPrepended =
      first !== undefined && messages.length > 1 && messages[0]?.id !== first.id && messages.some(({ id }) => id === first.id);
    before.current = { messages, isPrepended };
  }
  return before.current.isPrepended;
}

/** Space above the first message, as the style has it. */
const topPadding = 12;

interface MessageListProps {
  readonly messages: readonly ViewMessage[];
  /** True if earlier messages are still to come. */
  readonly isLoadingEarlier: boolean;
  /** Counts what the reader did: after each, the end is shown. */
  readonly actionCount: number;
  /** Questions to the reader, below the last message. */
  readonly children: ReactNode;
  readonly empty: ReactNode;
}

/** A conversation that stays at its end while the reader is there. */
export function MessageList({ messages, isLoadingEarlier, actionCount, children, empty }: MessageListProps): ReactElement {
  const { scroller, content, isAtEnd, goToEnd, showTop } = useStickToEnd();
  const isPrepended = useIsPrepended(messages);
  useEffect(() => {
    if (actionCount > 0) goToEnd();
  }, [actionCount, goToEnd]);
  return (
    <div className="list-frame">
      {isLoadingEarlier && <p className="loading-earlier">Loading earlier messages…</p>}
      <div ref={scroller} className="list" role="log" aria-label="Conversation" aria-live="off" tabIndex={0} id="conversation">
        <div ref={content} className="column">
          {messages.length === 0 && empty}
          <Virtualizer scrollRef={scroller} data={messages} shift={isPrepended} bufferSize={400} startMargin={topPadding}>
            {(message, index) => (
              <MessageView key={message.id} message={message} isContinued={isContinuation(message, messages[index - 1])} />
            )}
          </Virtualizer>
          <ShowTop value={showTop}>{children}</ShowTop>
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" className="jump" onClick={goToEnd}>
          <Icon name="down" />
          Jump to newest
        </button>
      )}
    </div>
  );
}
