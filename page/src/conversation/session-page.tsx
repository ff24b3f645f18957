// A session: its conversation, what it waits for, and why.
import type { ReactElement } from 'react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { UseAgentResult } from 'stepline/react';
import { useAgent } from 'stepline/react';
import type { ActionReceipt, AgentActions } from 'stepline/ui';
import { RequestFailedError } from 'stepline/ui';
import { Icon } from '../app/icons.tsx';
import { Link } from '../app/routing.tsx';
import { Suggestions } from '../app/suggestions.tsx';
import { describeError, getToken } from '../app/server.ts';
import { useMedia, wide } from '../app/use-media.ts';
import { config } from '../config.ts';
import { noteTitle, useTitle } from '../sessions/use-title.ts';
import { WaitList } from '../waits/wait-list.tsx';
import { WhyAside } from '../why/why-aside.tsx';
import { AgentName } from './agent-name.ts';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { describeEffect, describeRefusal } from './describe-effect.ts';
import { dropRepeats } from './drop-repeats.ts';
import { MessageList } from './message-list.tsx';
import { PendingMessage } from './pending-message.tsx';
import { RunBy } from './run-by.tsx';
import { StatusLine } from './status-line.tsx';
import { useSentMessages } from './use-sent-messages.ts';

interface EmptyProps {
  readonly agent: UseAgentResult;
  /** False until the server has said what there is. */
  readonly isLoaded: boolean;
  readonly send: (text: string) => Promise<void>;
}

function EmptyConversation({ agent, isLoaded, send }: EmptyProps): ReactElement {
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
  if (!isLoaded)
    return (
      <p className="empty note" role="status">
        {error === undefined ? 'Loading the conversation…' : `The conversation is not loaded yet. ${describeError(error)} Trying again…`}
      </p>
    );
  return (
    <div className="empty">
      <Icon name="send" />
      <h2>Nothing said yet</h2>
      <p>Write a message below. You will see each step that the agent takes, and in the Why panel why it goes on or stops.</p>
      <Suggestions send={send} />
    </div>
  );
}

/** Says that what is shown may be old, and why. */
function RefusedNote({ error }: { readonly error: unknown }): ReactElement {
  const isGone = error instanceof RequestFailedError && error.status === 404;
  return (
    <div className="status-note bad" role="alert">
      <Icon name="warning" />
      <p>
        {isGone
          ? 'This session no longer exists. You see what was loaded before it was deleted.'
          : `This conversation is not up to date: ${describeError(error)} Reload the page to try again.`}
      </p>
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
  /** True if it was just created with a message. */
  readonly isNew: boolean;
}

function SessionHeader({
  sessionId,
  agent,
  isLoaded,
  onWhy,
}: {
  readonly sessionId: string;
  readonly agent: UseAgentResult;
  readonly isLoaded: boolean;
  readonly onWhy: (() => void) | undefined;
}): ReactElement {
  const { status, waits, clocks, usage, messages, connection } = agent;
  const title = useTitle(sessionId) ?? (connection === 'refused' ? 'Unknown session' : isLoaded ? 'New session' : 'Session');
  const { input = 0, output = 0, total = input + output } = usage;
  const facts = {
    status,
    waits,
    clocks,
    tokens: total,
    messages,
    connection,
    isLoaded,
  };
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
        <StatusLine facts={facts}>{status === 'in_progress' && <RunBy sessionId={sessionId} />}</StatusLine>
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
  const noteDone = async (work: Promise<ActionReceipt>): Promise<ActionReceipt> => {
    const receipt = await work;
    onDone();
    return receipt;
  };
  return {
    send: (content, options) => noteDone(agent.send(content, options)),
    cancel: (reason) => agent.cancel(reason),
    resume: () => noteDone(agent.resume()),
    readWait: (waitId) => agent.readWait(waitId),
    approve: (wait, options) => noteDone(agent.approve(wait, options)),
    reject: (wait, reason) => noteDone(agent.reject(wait, reason)),
    answer: (wait, value) => noteDone(agent.answer(wait, value)),
    grant: (amounts) => noteDone(agent.grant(amounts)),
  };
}

/** True once the server has said what the session holds. */
function useIsLoaded({ connection, messages }: UseAgentResult): boolean {
  const [isLoaded, setLoaded] = useState(false);
  const isCurrent = connection === 'live' || connection === 'shared' || connection === 'polling';
  if (isCurrent && !isLoaded) setLoaded(true);
  return isLoaded || messages.length > 0;
}

/** Shows a session, live. */
export function SessionPage(props: SessionPageProps): ReactElement {
  const { sessionId, agentName, onChange, isWhyOpen, setWhyOpen, isNew } = props;
  const agent = useAgent({ url: config.api, sessionId, ...(config.tokenUrl !== undefined && { getToken }) });
  const { messages, waits, status, gaps, connection } = agent;
  const isWide = useMedia(wide);
  const [actionCount, setActionCount] = useState(0);
  const hasLoaded = useIsLoaded(agent);
  const actions = useMemo(() => withNotice(agent, () => setActionCount((count) => count + 1)), [agent]);
  const shown = useMemo(() => dropRepeats(messages), [messages]);
  const { pending, returned, send: post } = useSentMessages(sessionId, agent);
  const send = async (text: string): Promise<void> => {
    await post(text);
    setActionCount((count) => count + 1);
  };
  const refusal = describeRefusal(waits);
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
        <SessionHeader sessionId={sessionId} agent={agent} isLoaded={hasLoaded} onWhy={isWide ? undefined : () => setWhyOpen(!isWhyOpen)} />
        <AgentName value={agentName ?? 'Agent'}>
          <MessageList
            messages={shown}
            isLoadingEarlier={isLoadingEarlier}
            actionCount={actionCount}
            empty={pending.length > 0 ? null : <EmptyConversation agent={agent} isLoaded={hasLoaded} send={send} />}
          >
            {connection === 'refused' && messages.length > 0 && <RefusedNote error={agent.error} />}
            {pending.map(({ requestId, text }) => (
              <PendingMessage key={requestId} text={text} />
            ))}
            <WaitList waits={waits} actions={actions} />
          </MessageList>
        </AgentName>
        <Announcer messages={messages} waits={waits} isLoaded={isLoaded} />
        {!isUnknown && (
          <Composer
            draft={sessionId}
            isRunning={status === 'in_progress'}
            send={send}
            stop={async () => {
              await actions.cancel('the person pressed Stop');
            }}
            placeholder={status === 'in_progress' ? 'Add a message…' : 'Write a message…'}
            hint={refusal ?? describeEffect(waits)}
            isRefused={refusal !== undefined}
            returned={returned}
            takesFocus={isNew}
          />
        )}
      </main>
      {(isWide || isWhyOpen) && !isUnknown && <WhyAside agent={agent} isColumn={isWide} onClose={closeWhy} />}
    </>
  );
}
