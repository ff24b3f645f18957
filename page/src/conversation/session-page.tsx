// A session: its conversation, what it waits for, and why.
import type { ReactElement } from 'react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { UseAgentResult } from 'stepline/react';
import { useAgent } from 'stepline/react';
import type { AgentActions } from 'stepline/ui';
import { Icon } from '../app/icons.tsx';
import { Link } from '../app/routing.tsx';
import { describeError, getToken } from '../app/server.ts';
import { useMedia, wide } from '../app/use-media.ts';
import { config } from '../config.ts';
import { noteTitle, useTitle } from '../sessions/use-title.ts';
import { WaitList } from '../waits/wait-list.tsx';
import { WhyAside } from '../why/why-aside.tsx';
import { AgentName } from './agent-name.ts';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { MessageList } from './message-list.tsx';
import { StatusLine } from './status-line.tsx';

function EmptyConversation({ agent }: { readonly agent: UseAgentResult }): ReactElement {
  const { connection, error } = agent;
  if (connection === 'refused')
    return (
      <div className="empty" role="alert">
        <Icon name="warning" />
        <h2>This session cannot be shown</h2>
        <p>{describeError(error)}</p>
        <p>Choose another session, or start a new one.</p>
      </div>
    );
  if (connection === 'connecting') return <p className="empty note">Loading the conversation…</p>;
  return (
    <div className="empty">
      <Icon name="send" />
      <h2>Nothing said yet</h2>
      <p>Write a message below. You will see each step that the agent takes, and on the right why it goes on or stops.</p>
    </div>
  );
}

interface SessionPageProps {
  readonly sessionId: string;
  /** Undefined until the list is here. */
  readonly agentName: string | undefined;
  readonly isWhyOpen: boolean;
  readonly setWhyOpen: (isOpen: boolean) => void;
}

function SessionHeader({
  sessionId,
  agent,
  onWhy,
}: {
  readonly sessionId: string;
  readonly agent: UseAgentResult;
  readonly onWhy: (() => void) | undefined;
}): ReactElement {
  const { status, why, waits, clocks, usage, messages, connection } = agent;
  const title = useTitle(sessionId) ?? (connection === 'refused' ? 'Unknown session' : 'New session');
  const { input = 0, output = 0, total = input + output } = usage;
  const facts = { status, sentence: why.sentence, stopReason: why.stop_reason, waits, clocks, tokens: total, messages, connection };
  useEffect(() => {
    document.title = `${title.slice(0, 60)} · ${config.title}`;
    return () => {
      document.title = config.title;
    };
  }, [title]);
  return (
    <header className="session-header">
      <Link to={{ type: 'home' }} className="icon-button back" label="All sessions">
        <Icon name="back" />
      </Link>
      <div className="session-heading">
        <h1 title={title}>{title}</h1>
        <StatusLine facts={facts} />
      </div>
      {onWhy !== undefined && (
        <button type="button" className="button why-button" onClick={onWhy}>
          <Icon name="question" />
          Why
        </button>
      )}
    </header>
  );
}

/** Calls back after each action that worked. */
function countActions(agent: AgentActions, onDone: () => void): AgentActions {
  const toCounted =
    <Args extends readonly unknown[]>(act: (...args: Args) => Promise<void>) =>
    async (...args: Args): Promise<void> => {
      await act(...args);
      onDone();
    };
  const { send, cancel, readWait, approve, reject, answer, grant } = agent;
  return {
    send: toCounted(send),
    cancel,
    readWait,
    approve: toCounted(approve),
    reject: toCounted(reject),
    answer: toCounted(answer),
    grant: toCounted(grant),
  };
}

/** Shows a session, live. */
export function SessionPage({ sessionId, agentName, isWhyOpen, setWhyOpen }: SessionPageProps): ReactElement {
  const agent = useAgent({ url: config.api, sessionId, ...(config.tokenUrl !== undefined && { getToken }) });
  const { messages, waits, status, gaps, connection } = agent;
  const isWide = useMedia(wide);
  const [actionCount, setActionCount] = useState(0);
  const actions = useMemo(() => countActions(agent, () => setActionCount((count) => count + 1)), [agent]);
  const main = useRef<HTMLElement>(null);
  useEffect(() => noteTitle(sessionId, messages), [sessionId, messages]);
  const closeWhy = (): void => {
    setWhyOpen(false);
    main.current?.querySelector<HTMLElement>('.why-button')?.focus();
  };
  const isUnknown = connection === 'refused' && messages.length === 0;
  const isLoaded = connection === 'live' || connection === 'shared';
  const isLoadingEarlier = messages.length > 0 && gaps.some((gap) => gap.type === 'events');
  return (
    <>
      <main ref={main} className="session" id="main" tabIndex={-1}>
        <SessionHeader sessionId={sessionId} agent={agent} onWhy={isWide ? undefined : () => setWhyOpen(!isWhyOpen)} />
        <AgentName value={agentName ?? 'Agent'}>
          <MessageList
            messages={messages}
            isLoadingEarlier={isLoadingEarlier}
            actionCount={actionCount}
            empty={<EmptyConversation agent={agent} />}
          >
            <WaitList waits={waits} actions={actions} />
          </MessageList>
        </AgentName>
        <Announcer messages={messages} waits={waits} isLoaded={isLoaded} />
        {!isUnknown && (
          <Composer
            draft={sessionId}
            isRunning={status === 'in_progress'}
            send={actions.send}
            stop={() => agent.cancel('Stopped on the page.')}
            placeholder={status === 'in_progress' ? 'Add a message while it runs…' : 'Write a message…'}
          />
        )}
      </main>
      {(isWide || isWhyOpen) && !isUnknown && <WhyAside agent={agent} isColumn={isWide} onClose={closeWhy} />}
    </>
  );
}
