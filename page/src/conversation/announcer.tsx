// Says new answers aloud, once they are whole: a screen reader should not hear every chunk.
import type { ReactElement } from 'react';
import { useEffect, useRef, useState } from 'react';
import type { ViewMessage, ViewWait } from 'stepline/ui';
import { describeWait } from '../format/status.ts';

const longest = 600;

/** Returns the words for the newest message; undefined while it is being written. */
function toWords(message: ViewMessage | undefined): string | undefined {
  if (message === undefined || message.provisional === true) return undefined;
  if (message.role === 'assistant' && message.text !== '') return `Answer: ${message.text.slice(0, longest)}`;
  if (message.role === 'status' && message.status_type !== 'thinking') return message.text;
  return message.role === 'tool' && message.tool_error !== undefined
    ? `${message.text}: ${message.tool_error.slice(0, longest)}`
    : undefined;
}

interface AnnouncerProps {
  readonly messages: readonly ViewMessage[];
  readonly waits: readonly ViewWait[];
  /** True once the conversation is loaded: nothing of it is read out before. */
  readonly isLoaded: boolean;
}

/** A region that only screen readers notice. */
export function Announcer({ messages, waits, isLoaded }: AnnouncerProps): ReactElement {
  const [words, setWords] = useState('');
  const heard = useRef<{ readonly message: string | undefined; readonly wait: string | undefined } | undefined>(undefined);
  const last = messages.at(-1);
  const spoken = toWords(last);
  const messageId = spoken === undefined ? undefined : last?.id;
  const wait = waits[0];
  useEffect(() => {
    if (!isLoaded) return;
    const before = heard.current;
    heard.current = { message: messageId ?? before?.message, wait: wait?.wait_id };
    if (before === undefined) return;
    if (wait !== undefined && wait.wait_id !== before.wait)
      setWords(`${describeWait(wait)}${wait.tool === undefined ? '' : `: ${wait.tool}`}.`);
    else if (messageId !== undefined && messageId !== before.message) setWords(spoken ?? '');
  }, [isLoaded, messageId, spoken, wait]);
  return (
    <p className="for-screen-readers" aria-live="polite">
      {words}
    </p>
  );
}
