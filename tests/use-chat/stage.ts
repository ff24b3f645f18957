// A server with the routes of a chat on a real socket, and pages that are the AI SDK's own `Chat` with its own transport.
import { createServer } from 'node:http';
import { Chat } from '@ai-sdk/react';
import type { UIMessageChunk } from 'ai';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, readUIMessageStream, uiMessageChunkSchema } from 'ai';
import { expect, onTestFinished } from 'vitest';
import { toNodeListener } from '../../src/broadcasting/http/index.ts';
import type { AgentUIMessage, ChatRouteOptions } from '../../src/broadcasting/ui-message-stream/index.ts';
import { chatRoutes } from '../../src/broadcasting/ui-message-stream/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionStore } from '../../src/sessions/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import type { Orchestrator } from '../../src/step-by-step/index.ts';
import { listen } from '../http/stage.ts';

export type Page = Chat<AgentUIMessage>;

/** A user by a header; users see their own chats only. */
const login: Pick<ChatRouteOptions, 'authenticate' | 'authorize'> = {
  authenticate: (request) => {
    const user = request.headers.get('x-user');
    return user === null ? { refused: 'unauthenticated', reason: 'Send x-user.' } : { id: user, kind: 'user' };
  },
  authorize: ({ by, session }) => session === undefined || session.owner === by.id,
};

/** Reads the chunks of a stream from its bytes, and lets the AI SDK check every one. */
async function checkBytes(body: ReadableStream<Uint8Array>): Promise<void> {
  const schema = uiMessageChunkSchema();
  const chunks: UIMessageChunk[] = [];
  let text = '';
  try {
    for await (const bytes of body.pipeThrough(new TextDecoderStream())) text += bytes;
  } catch {
    // The connection was lost.
  }
  for (const line of text.split('\n\n').slice(0, -1)) {
    if (line.startsWith(':') || line === 'data: [DONE]') continue;
    const value: unknown = JSON.parse(line.replace(/^data: /, ''));
    const checked = await schema.validate?.(value);
    expect(checked, line).toMatchObject({ success: true });
    chunks.push(value as UIMessageChunk);
  }
  // A message that is continued begins in the middle.
  if (chunks[1]?.type === 'reset-step') return;
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) if (chunk.type !== 'error') controller.enqueue(chunk);
      controller.close();
    },
  });
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) expect(message.role).toBe('assistant');
}

export interface PageOptions {
  readonly user?: string;
  /** Messages that it opened with. @default those that the server has */
  readonly messages?: readonly AgentUIMessage[];
  /** Continues by itself once all approvals are answered. @default true */
  readonly isAutomatic?: boolean;
  readonly onToolCall?: (toolName: string, toolCallId: string, page: () => Page) => void;
}

export interface Site {
  readonly url: string;
  readonly runtime: EmbeddedRuntime;
  readonly problems: readonly unknown[];
  /** Opens a page of a chat: its history, then its chat. */
  open(id: string, options?: PageOptions): Promise<Page>;
  history(id: string, user?: string): Promise<AgentUIMessage[]>;
  request(method: string, path: string, body?: unknown, user?: string): Promise<Response>;
  /** Connections that pages have now. Aborting one is losing the network. */
  readonly connections: Set<AbortController>;
  /** Makes the next request of a page fail on its way. */
  failNext(): void;
}

export interface SiteOptions {
  readonly agent: Orchestrator;
  readonly store?: SessionStore;
  readonly runtime?: Partial<SessionRuntimeOptions>;
  readonly routes?: Partial<ChatRouteOptions>;
}

/** Serves the chats of one agent. */
export async function openChatSite({ agent, store = createMemoryStore(), runtime: more = {}, routes = {} }: SiteOptions): Promise<Site> {
  const problems: unknown[] = [];
  const runtime = createSessionRuntime({ agents: [agent], store, ...more });
  onTestFinished(() => runtime.drain({ timeoutMs: 0 }));
  const { handle } = chatRoutes(runtime, {
    ...login,
    newSession: ({ by }) => ({ owner: by.id }),
    onProblem: (error) => void problems.push(error),
    ...routes,
  });
  const url = await listen(createServer(toNodeListener(handle)));
  const checks: Promise<void>[] = [];
  onTestFinished(async () => {
    await Promise.all(checks);
  });
  const connections = new Set<AbortController>();
  let failures = 0;
  const fetchChecked: typeof fetch = async (input, init) => {
    if (failures > 0) {
      failures -= 1;
      throw new TypeError('fetch failed');
    }
    const connection = new AbortController();
    connections.add(connection);
    const signal = AbortSignal.any([connection.signal, ...(init?.signal ? [init.signal] : [])]);
    const response = await fetch(input, { ...init, signal });
    const isStream = response.headers.get('x-vercel-ai-ui-message-stream') === 'v1';
    if (!isStream || response.body === null) return response;
    const [seen, checked] = response.body.tee();
    checks.push(checkBytes(checked));
    return new Response(seen, response);
  };
  const request: Site['request'] = (method, path, body, user = 'ann') => {
    const headers: Record<string, string> = { 'x-user': user, ...(body !== undefined && { 'content-type': 'application/json' }) };
    return fetch(`${url}/api/chat${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  };
  const history: Site['history'] = async (id, user) => (await (await request('GET', `/${id}`, undefined, user)).json()) as AgentUIMessage[];
  const open: Site['open'] = async (id, { user = 'ann', messages, isAutomatic = true, onToolCall } = {}) => {
    const page: Page = new Chat<AgentUIMessage>({
      id,
      messages: [...(messages ?? (await history(id, user)))],
      transport: new DefaultChatTransport({ api: `${url}/api/chat`, headers: { 'x-user': user }, fetch: fetchChecked }),
      ...(isAutomatic && { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses }),
      ...(onToolCall && { onToolCall: ({ toolCall }) => onToolCall(toolCall.toolName, toolCall.toolCallId, () => page) }),
    });
    return page;
  };
  return { url, runtime, problems, open, history, request, connections, failNext: () => void (failures += 1) };
}

/** Shows the parts of a message in short. */
export function show(message: AgentUIMessage | undefined): readonly string[] {
  return (message?.parts ?? []).flatMap((part) => {
    if (part.type === 'step-start' || part.type === 'data-outcome') return [];
    if (part.type === 'text' || part.type === 'reasoning') return [`${part.type}: ${part.text}`];
    return ['state' in part ? `${part.type}: ${part.state}` : part.type];
  });
}

/** Shows the answer that a page has to its last message; empty if there is none yet. */
export const showLast = ({ lastMessage }: Page): readonly string[] => (lastMessage?.role === 'assistant' ? show(lastMessage) : []);

/** Waits until something is true of a page. */
export async function until(isTrue: () => boolean, what = 'it'): Promise<void> {
  for (let tries = 0; !isTrue(); tries += 1) {
    if (tries > 1000) throw new Error(`${what} never came true`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Ids of the approvals that a page asks for. */
export const getApprovals = ({ messages }: Page): readonly string[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => ('approval' in part && part.state === 'approval-requested' ? [part.approval.id] : [])),
  );
