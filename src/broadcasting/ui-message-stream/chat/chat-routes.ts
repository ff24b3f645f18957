// The routes that `useChat` asks for.
// Owns:     which route a request means, and the order in which it is checked.
// Does not: know how an answer is read or written.
// R0. Who it is comes first, from the headers, before a body is read.
// R1. Only the newest message of a page counts, or its answers to what is waited for. Its history never does.
// R2. A page that leaves, reloads or loses its connection stops nothing. Only DELETE does.
import type { Session, SessionRuntime } from '../../../sessions/index.ts';
import { UnknownSessionError } from '../../../sessions/index.ts';
import type { RunState } from '../../../step-by-step/index.ts';
import type { Caller, HttpAction } from '../../http/index.ts';
import { describeError, guardRequests, isServerError, MethodNotAllowedError, NotFoundError, readBody, toOrigin } from '../../http/index.ts';
import type { AnswerPlace } from './answer-places.ts';
import { awaitAnswer, listAnswers } from './answer-places.ts';
import { listMessages } from './chat-history.ts';
import type { ChatRouteOptions, ChatServices } from './chat-options.ts';
import { createChatServices } from './chat-options.ts';
import { findChat } from './find-chat.ts';
import type { ChunkGroup, FollowOptions } from './follow-answer.ts';
import { AnswerFollower, toRefusal } from './follow-answer.ts';
import { checkAnswers } from './give-answers.ts';
import type { ChatPost } from './read-post.ts';
import { parseId, readPost } from './read-post.ts';
import { isSent, regenerate, sendMessage } from './send-message.ts';
import { skipSteps } from './skip-steps.ts';
import { toStreamResponse } from './stream-response.ts';

interface Call {
  readonly services: ChatServices;
  readonly request: Request;
  readonly caller: Caller;
}

type Groups = AsyncGenerator<ChunkGroup, boolean, undefined>;

const empty = (): Response => new Response(null, { status: 204 });

/** Streams what a function reads, until the reader leaves. */
function stream({ services, request }: Call, read: (signal: AbortSignal) => Groups): Response {
  const { clock, maxStreamMs, report } = services;
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  request.signal.addEventListener('abort', leave, { once: true });
  const cancelEnd = clock.schedule(maxStreamMs, leave, true);
  leaving.signal.addEventListener('abort', cancelEnd, { once: true });
  // The reader may have left while it was authorized.
  if (request.signal.aborted) leave();
  const onError = (error: unknown): void => {
    if (!leaving.signal.aborted && isServerError(error)) report(error, 'the answer of a chat');
  };
  return toStreamResponse(read(leaving.signal), { onError, leave });
}

const follow = (services: ChatServices, options: FollowOptions): Groups => new AnswerFollower(services, options).read();

/** Follows the answer to a message that may not have joined the conversation yet. */
async function* followNext(
  services: ChatServices,
  { sessionId, signal, rest, ...wanted }: Omit<FollowOptions, 'place'> & { readonly messageId?: string; readonly fromSeq: number },
): Groups {
  const refused = new AbortController();
  rest?.catch((error: unknown) => refused.abort(error));
  const place = await awaitAnswer(services.runtime, sessionId, { ...wanted, signal: AbortSignal.any([signal, refused.signal]) });
  if (place === undefined) {
    const chunks = refused.signal.aborted && !signal.aborted ? toRefusal(services.redactor, refused.signal.reason) : [];
    if (chunks.length > 0) yield { isPast: false, chunks };
    return chunks.length > 0;
  }
  return yield* follow(services, { sessionId, place, signal, ...(rest !== undefined && { rest }) });
}

async function loadChat({ services, caller }: Call, chatId: string, action: HttpAction): Promise<Session> {
  const session = await findChat(services, caller, chatId);
  if (session === undefined) throw new UnknownSessionError(chatId);
  await services.gate.check(caller, { action, session });
  return session;
}

/** Tells a page that nothing is to be done, and keeps it from asking again by itself. */
async function* sayNothingNew(messageId: string): Groups {
  yield {
    isPast: false,
    chunks: [
      { type: 'start', messageId },
      { type: 'finish', finishReason: 'interrupted' },
    ],
  };
  return true;
}

async function answer(call: Call, post: Extract<ChatPost, { readonly type: 'answers' }>): Promise<Response> {
  const { services, caller } = call;
  const session = await loadChat(call, post.chatId, 'get');
  const checked = await checkAnswers({ services, caller, session }, post);
  const place = (await listAnswers(services.runtime, session.id)).at(-1);
  if (checked.length === 0 && post.approvals.length === 0) return stream(call, () => sayNothingNew(post.messageId));
  if (place?.id !== post.messageId) throw new NotFoundError(`message "${post.messageId}" that could be continued`);
  for (const give of checked) await give('accepted');
  const rest = Promise.all(checked.map((give) => give('rest')));
  rest.catch(() => undefined);
  const options = { sessionId: session.id, place, ...(checked.length > 0 && { rest }) };
  return stream(call, (signal) => skipSteps(follow(services, { ...options, signal }), post.steps));
}

async function post(call: Call): Promise<Response> {
  const { services, request, caller } = call;
  const body = await readBody(request, services.maxBodyBytes);
  const given = readPost(body);
  if (given.type === 'answers') return answer(call, given);
  const session = await findChat(services, caller, given.chatId);
  const sender = { services, caller, body, chatId: given.chatId };
  const sent = given.type === 'regenerate' ? await regenerate(sender, given.messageId, session) : await sendMessage(sender, given, session);
  if (isSent(sent)) return stream(call, (signal) => followNext(services, { ...sent, signal }));
  return stream(call, (signal) => follow(services, { ...sent, signal }));
}

/** True if a message was accepted that has not joined the conversation yet. */
const hasMessageWaiting = ({ mailbox, status }: Session, last: AnswerPlace | undefined): boolean =>
  mailbox.some(({ type }) => type === 'send') || (last === undefined && status === 'in_progress');

async function resume(call: Call, chatId: string): Promise<Response> {
  const { services } = call;
  let session: Session;
  try {
    session = await loadChat(call, chatId, 'events');
  } catch (error) {
    // A chat that is new to the server has nothing to resume.
    if (error instanceof UnknownSessionError) return empty();
    throw error;
  }
  const { id: sessionId, lastSeq: fromSeq } = session;
  const place = (await listAnswers(services.runtime, sessionId)).at(-1);
  if (hasMessageWaiting(session, place)) return stream(call, (signal) => followNext(services, { sessionId, fromSeq, signal }));
  if (place === undefined) return empty();
  return stream(call, (signal) => follow(services, { sessionId, place, signal }));
}

async function showHistory(call: Call, chatId: string): Promise<Response> {
  const { services } = call;
  let messages: Awaited<ReturnType<typeof listMessages>> = [];
  try {
    messages = await listMessages(services, await loadChat(call, chatId, 'get'));
  } catch (error) {
    if (!(error instanceof UnknownSessionError)) throw error;
  }
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  return Response.json(messages, { headers });
}

async function stop(call: Call, chatId: string): Promise<Response> {
  const { services, caller } = call;
  const session = await loadChat(call, chatId, 'get');
  const reason = 'Stopped by the reader.';
  await services.gate.check(caller, { action: 'cancel', session, input: { reason } });
  if (session.status === 'in_progress') await services.runtime.cancel(session.id, reason, { ...toOrigin(caller), until: 'accepted' });
  return empty();
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new NotFoundError('such address');
  }
}

async function handle(services: ChatServices, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const path = pathname.replace(/\/$/, '');
  if (path !== services.basePath && !path.startsWith(`${services.basePath}/`)) throw new NotFoundError('such address');
  const [chat, tail, ...more] = path.slice(services.basePath.length).split('/').slice(1).map(decodePart);
  const call = { services, request, caller: await services.gate.authenticate(request) };
  const { method } = request;
  if (chat === undefined) {
    if (method === 'POST') return post(call);
    throw new MethodNotAllowedError(method, ['POST']);
  }
  const chatId = parseId('The id of the chat', chat);
  if (tail === undefined) {
    if (method === 'GET') return showHistory(call, chatId);
    throw new MethodNotAllowedError(method, ['GET']);
  }
  if (tail !== 'stream' || more.length > 0) throw new NotFoundError('such address');
  if (method === 'GET') return resume(call, chatId);
  if (method === 'DELETE') return stop(call, chatId);
  throw new MethodNotAllowedError(method, ['GET', 'DELETE']);
}

type Handle = (request: Request) => Promise<Response>;

/** The routes of a chat: one function under the names that routers ask for. */
export interface ChatRoutes {
  readonly GET: Handle;
  readonly POST: Handle;
  readonly DELETE: Handle;
  readonly OPTIONS: Handle;
  /** For routers that take one handler for all methods. */
  readonly handle: Handle;
}

/** Creates the routes that a page with `useChat` needs, over the sessions of a runtime. They never reject. */
export function chatRoutes<State extends RunState, Output>(runtime: SessionRuntime<State, Output>, options: ChatRouteOptions): ChatRoutes {
  const services = createChatServices(runtime, options);
  const { origins, report, redactor } = services;
  const toErrorResponse = (error: unknown): Response => {
    const { status, code, message, headers } = describeError(redactor, error);
    // useChat shows the body as the message of its error.
    const shown = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'x-error-code': code, ...headers };
    return new Response(message, { status, headers: shown });
  };
  const guarded = guardRequests({ origins, methods: ['GET', 'POST', 'DELETE'], report, toErrorResponse }, (request) =>
    handle(services, request),
  );
  return { GET: guarded, POST: guarded, DELETE: guarded, OPTIONS: guarded, handle: guarded };
}
