import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { UseAgentResult } from 'stepline/react';
import type { ActionReceipt, ViewMessage } from 'stepline/ui';
import { RequestFailedError } from 'stepline/ui';
import { createRequestId } from '../app/create-request-id.ts';
import { describeError } from '../app/server.ts';
import type { SentMessage } from './sent-messages.ts';
import { keepSent, readSent } from './sent-messages.ts';

/** A message that was refused after the server had accepted it. */
export interface ReturnedMessage {
  readonly text: string;
  readonly reason: string;
}

/** Messages from the field to the conversation. */
export interface SentMessages {
  /** Those that the conversation does not show yet. */
  readonly pending: readonly SentMessage[];
  /** Those that were refused after all, since one was sent. */
  readonly returned: readonly ReturnedMessage[];
  readonly send: (text: string) => Promise<void>;
}

const listUserTexts = (messages: readonly ViewMessage[]): readonly string[] =>
  messages.flatMap(({ role, text }) => (role === 'user' ? [text] : []));

/** Time before a request that did not reach the server is made again. */
const retryMs = 2_000;

/** True if the server has decided: asking again would not help. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RequestFailedError && error.status >= 400 && error.status < 500 && ![401, 408, 425, 429].includes(error.status);

/** Makes a request until the server has decided. */
async function repeat<Value>(request: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (isRefusal(error) || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

/** Sends messages, and follows each until it is applied or refused, also one that was sent before the page was loaded again. */
export function useSentMessages(sessionId: string, agent: UseAgentResult): SentMessages {
  const { messages } = agent;
  const latest = useRef(agent);
  useEffect(() => {
    latest.current = agent;
  });
  const post = useCallback((text: string, requestId: string) => latest.current.send(text, { requestId }), []);
  const [sent, setSent] = useState(() => readSent(sessionId));
  const [returned, setReturned] = useState<readonly ReturnedMessage[]>([]);
  const followed = useRef(new Map<string, AbortController>());
  const change = useCallback(
    (toNext: (now: readonly SentMessage[]) => readonly SentMessage[]) => {
      const next = toNext(readSent(sessionId));
      keepSent(sessionId, next);
      setSent(next);
    },
    [sessionId],
  );
  const follow = useCallback(
    async ({ text, requestId }: SentMessage, accepted?: ActionReceipt): Promise<void> => {
      if (followed.current.has(requestId)) return;
      const ending = new AbortController();
      const { signal } = ending;
      followed.current.set(requestId, ending);
      try {
        const receipt = accepted ?? (await repeat(() => post(text, requestId), signal));
        await receipt.whenSettled(signal);
      } catch (error) {
        const reason = `Your message was refused. ${describeError(error)}`;
        // Several may be refused before the page is drawn again.
        if (!signal.aborted) setReturned((earlier) => [...earlier, { text, reason }]);
      }
      if (signal.aborted) return;
      followed.current.delete(requestId);
      change((now) => now.filter((each) => each.requestId !== requestId));
    },
    [post, change],
  );
  useEffect(() => {
    const all = followed.current;
    for (const each of readSent(sessionId)) void follow(each);
    return () => {
      for (const ending of all.values()) ending.abort();
      all.clear();
    };
  }, [sessionId, follow]);
  const texts = useMemo(() => listUserTexts(messages), [messages]);
  const send = async (text: string): Promise<void> => {
    const requestId = createRequestId();
    const before = texts.length;
    const receipt = await post(text, requestId);
    setReturned([]);
    if (!receipt.isPending) return;
    const message = { text, requestId, before };
    change((now) => [...now, message]);
    void follow(message, receipt);
  };
  // What is shown may be the same words of somebody else: only the server says that a message is settled.
  return { pending: sent.filter(({ text, before }) => !texts.slice(before).includes(text)), returned, send };
}
