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

/** Says that what is shown may be old, and why. */
function RefusedNote({ error }: { readonly error: unknown }): ReactElement {
  return (
    <div className="status-note bad" role="alert">
      <Icon name="warning" />
      <p>This conversation is not up to date: {describeError(error)} Reload the page to try again.</p>
    </div>
  );
}

interface SessionPageProps {
  readonly sessionId: string;
  /** Undefined until the list is here. */
  readonly agentName: string | undefined;
  /** Called when the status has changed: lists show it too. */
  readonly onChange: () => void;
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
function withNotice(agent: AgentActions, onDone: () => void): AgentActions {
  const noteDone = async (work: Promise<void>): Promise<void> => {
    await work;
    onDone();
  };
  return {
    send: (content) => noteDone(agent.send(content)),
    cancel: (reason) => agent.cancel(reason),
    readWait: (waitId) => agent.readWait(waitId),
    approve: (wait, options) => noteDone(agent.approve(wait, options)),
    reject: (wait, reason) => noteDone(agent.reject(wait, reason)),
    answer: (wait, value) => noteDone(agent.answer(wait, value)),
    grant: (amounts) => noteDone(agent.grant(amounts)),
  };
}

/** Shows a session, live. */
export function SessionPage({ sessionId, agentName, onChange, isWhyOpen, setWhyOpen }: SessionPageProps): ReactElement {
  const agent = useAgent({ url: config.api, sessionId, ...(config.tokenUrl !== undefined && { getToken }) });
  const { messages, waits, status, gaps, connection } = agent;
  const isWide = useMedia(wide);
  const [actionCount, setActionCount] = useState(0);
  const actions = useMemo(() => withNotice(agent, () => setActionCount((count) => count + 1)), [agent]);
  const main = useRef<HTMLElement>(null);
  useEffect(() => noteTitle(sessionId, messages), [sessionId, messages]);
  useEffect(onChange, [status, waits.length, onChange]);
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
            {connection === 'refused' && messages.length > 0 && <RefusedNote error={agent.error} />}
            <WaitList waits={waits} actions={actions} />
          </MessageList>
        </AgentName>
        <Announcer messages={messages} waits={waits} isLoaded={isLoaded} />
        {!isUnknown && (
          <Composer
            draft={sessionId}
            isRunning={status === 'in_progress'}
            send={(text) => actions.send(text)}
            stop={() => actions.cancel('Stopped on the page.')}
            placeholder={status === 'in_progress' ? 'Add a message while it runs…' : 'Write a message…'}
          />
        )}
      </main>
      {(isWide || isWhyOpen) && !isUnknown && <WhyAside agent={agent} isColumn={isWide} onClose={closeWhy} />}
    </>
  );
}
