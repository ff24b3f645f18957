// A page with the stock useChat of the AI SDK, bundled for a browser. Nothing of ours is in it.
import { useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import type { ReactElement } from 'react';
import { createElement as h, StrictMode, useState } from 'react';

declare const document: { getElementById(id: string): object };
declare const location: { readonly hash: string };

// Its types are not installed.
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-assertion -- a text, so that nobody looks for them
const load = (): Promise<{ createRoot(at: object): { render(element: ReactElement): void } }> => import('react-dom/client' as string);
const { createRoot } = await load();

const chatId = location.hash.slice(1) || 'c1';
const api = `/api/chat/${chatId}`;

type Part = UIMessage['parts'][number];
type Chat = ReturnType<typeof useChat>;

function showPart(part: Part, index: number, chat: Chat): ReactElement | null {
  if (part.type === 'text') return h('p', { key: index, className: 'text' }, part.text);
  if (!part.type.startsWith('tool-') || !('toolCallId' in part)) return null;
  const answer = (approved: boolean) => () => {
    if (part.state === 'approval-requested') void chat.addToolApprovalResponse({ id: part.approval.id, approved });
  };
  const buttons = [
    h('button', { key: 'yes', onClick: answer(true) }, 'Approve'),
    h('button', { key: 'no', onClick: answer(false) }, 'Reject'),
  ];
  return h('div', { key: index, className: 'tool' }, `${part.type}: ${part.state}`, part.state === 'approval-requested' ? buttons : null);
}

function Page({ history }: { readonly history: UIMessage[] }): ReactElement {
  const [text, setText] = useState('');
  const chat = useChat({
    id: chatId,
    messages: history,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const { messages, status, error } = chat;
  const send = () => void chat.sendMessage({ text });
  const edit = () => void chat.sendMessage({ text, messageId: messages.find(({ role }) => role === 'user')?.id ?? '' });
  const stop = () => void fetch(`${api}/stream`, { method: 'DELETE' });
  return h(
    'main',
    null,
    messages.map((message) =>
      h(
        'article',
        { key: message.id, 'aria-label': message.role },
        message.parts.map((part, index) => showPart(part, index, chat)),
      ),
    ),
    h('output', { id: 'status' }, status),
    h('output', { id: 'error' }, error?.message ?? ''),
    h('input', { 'aria-label': 'Message', value: text, onChange: (event: { target: { value: string } }) => setText(event.target.value) }),
    h('button', { onClick: send }, 'Send'),
    h('button', { onClick: stop }, 'Stop'),
    h('button', { onClick: () => void chat.regenerate() }, 'Regenerate'),
    h('button', { onClick: edit }, 'Edit'),
  );
}

const history = (await (await fetch(api)).json()) as UIMessage[];
createRoot(document.getElementById('root')).render(h(StrictMode, null, h(Page, { history })));
