'use client';
import { useChat } from '@ai-sdk/react';
import { useState } from 'react';

export default function Page() {
  const [text, setText] = useState('');
  const { messages, sendMessage, status } = useChat({ id: 'c1', resume: true });
  return (
    <main>
      {messages.flatMap(({ id, parts }) =>
        parts.map((part, index) => (part.type === 'text' ? <p key={`${id}/${index}`}>{part.text}</p> : null)),
      )}
      <output>{status}</output>
      <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
      <button onClick={() => sendMessage({ text })}>Send</button>
    </main>
  );
}
