// What a request does to its session.
// D1. Answers have an effect only if everything that is waited for is answered; a message has none while something is waited for.
// D2. A message is sent once, however often the page sends it.
import type { Json, JsonObject } from '../../lib/index.ts';
import { describeValue, InvalidArgumentError, jsonEquals, listAll, readField } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { Session, SessionWait } from '../../sessions/index.ts';
import { assertNewMessage } from '../../sessions/index.ts';
import { MessageRefusedError } from '../../step-by-step/index.ts';
import type { Caller } from '../http/index.ts';
import { toOrigin } from '../http/index.ts';
import { isAgentsId } from './ag-ui-ids.ts';
import type { GivenAnswer } from './answers.ts';
import { giveAnswer, toAnswerRequestId } from './answers.ts';
import type { AgUiServices } from './handler-options.ts';
import { toInterruptId } from './interrupts.ts';
import type { InputMessage } from './read-input.ts';
import type { SessionRun } from './take-answers.ts';
import { isRepeatedAnswer, takeAnswers } from './take-answers.ts';
import { toAgUiMessages } from './to-messages.ts';

/** A run that was asked for. */
export interface StartedRun {
  /** The session before anything was done to it; as it is now if nothing was. */
  readonly session: Session;
  /** The message that was sent, if it was new. */
  readonly message?: Message;
  /** Ids of the waits that were answered. */
  readonly waitIds: readonly string[];
  /** Ids of the requests that gave the answers and sent the message. */
  readonly requestIds: readonly string[];
  /** Waits that are left to be answered before anything is run. Undefined unless some of several were answered. */
  readonly left?: readonly SessionWait[];
}

const toMessageRequestId = (messageId: string): string => `ag-ui/message/${messageId}`;

/** Returns a function that creates the session of a thread. Throws if the caller may not. */
export async function planThread(
  { runtime, gate, newSession }: AgUiServices,
  caller: Caller,
  { threadId, body }: { readonly threadId: string; readonly body: JsonObject },
): Promise<() => Promise<Session>> {
  const wishes = { ...(await newSession({ ...caller, action: 'create', body })), id: threadId };
  await gate.check(caller, { action: 'create', input: { newSession: wishes } });
  return () => runtime.create(wishes, { ...toOrigin(caller), until: 'accepted', requestId: 'ag-ui/thread' });
}

/** Throws if the agent has, or may get, a message with this id: a page would take the one for the other. */
function checkMessageId({ id: sessionId, state }: Session, id: string): void {
  // A fork shows messages under ids of its source.
  if (!isAgentsId(sessionId, id) && !toAgUiMessages(state).some((shown) => shown.id === id && shown.role !== 'user')) return;
  throw new InvalidArgumentError(`The id ${describeValue(id)} belongs to a message of the agent. Send the message under an id of its own.`);
}

/** Returns the newest message of a page if the session does not have it yet. Throws if it was changed since. */
function findNewMessage(session: Session, message: InputMessage | undefined): Message | undefined {
  if (message === undefined) return undefined;
  checkMessageId(session, message.id);
  const { state } = session;
  const sent = Message.user(message.content, { id: message.id });
  const known = state.messages.find(({ id }) => id === sent.id);
  if (known === undefined) return sent;
  // Holds: parts of messages are JSON.
  const [was, is] = [known.parts, sent.parts] as unknown as readonly [Json, Json];
  if (known.isUser() && jsonEquals(was, is)) return undefined;
  // Before anything else of the request takes effect.
  assertNewMessage(state, sent.id);
  return sent;
}

/** Chooses the answers that have an effect, and what is still to be answered. */
function chooseAnswers(
  { services, session, input }: SessionRun,
  given: readonly GivenAnswer[],
  message: Message | undefined,
): { readonly answers: readonly GivenAnswer[]; readonly left?: readonly SessionWait[] } {
  const open = session.waitingFor;
  if (open.length === 0) return { answers: given };
  const toId = (wait: SessionWait): string => toInterruptId(wait, session.stepCount);
  const answered = services.collector.collect(input.threadId, given, open.map(toId));
  const left = open.filter((wait) => !answered.has(toId(wait)));
  if (left.length > 0 && message !== undefined)
    throw new MessageRefusedError(
      left.map(({ id }) => id),
      `AG-UI takes no message while a run is interrupted: answer ${listAll(left.map((wait) => `"${toId(wait)}"`))} in "resume" first.`,
    );
  if (left.length === 0) return { answers: [...answered.values()] };
  return given.length === 0 ? { answers: [] } : { answers: [], left };
}

const overCodes: readonly unknown[] = ['already-answered', 'late-answer', 'not-waiting'];

/** Gives an answer. Returns the id of its request; undefined if somebody else has given the same meanwhile. */
async function give(run: SessionRun, answer: GivenAnswer): Promise<string | undefined> {
  const { services, session } = run;
  const requestId = toAnswerRequestId(answer);
  try {
    const { isRepeated } = await giveAnswer(services.runtime, answer, { sessionId: session.id, requestId });
    return isRepeated === true ? undefined : requestId;
  } catch (error) {
    if (!overCodes.includes(readField(error, 'code'))) throw error;
    if (await isRepeatedAnswer(run, answer.wait, answer.decision)) return undefined;
    throw error;
  }
}

/** Does what a request asks for: gives the answers, and sends the message. Settles as soon as that is stored. */
export async function startRun(run: SessionRun): Promise<StartedRun> {
  const { services, caller, input, session } = run;
  const { gate, runtime } = services;
  await gate.check(caller, { action: 'events', session });
  const message = findNewMessage(session, input.message);
  const rules = { whileWaiting: 'refuse' } as const;
  if (message !== undefined && input.message !== undefined)
    await gate.check(caller, { action: 'send', session, input: { content: input.message.content, ...rules } });
  const given = await takeAnswers(run);
  const { answers, left } = chooseAnswers(run, given, message);
  const isEdited = ({ decision }: GivenAnswer): boolean => decision.action === 'approve' && decision.args !== undefined;
  const [waitIds, requestIds]: [string[], string[]] = [[], []];
  // Edited arguments are checked at once: if they do not fit, nothing else was done.
  for (const answer of answers.toSorted((one, other) => Number(isEdited(other)) - Number(isEdited(one)))) {
    const requestId = await give(run, answer);
    if (requestId === undefined) continue;
    waitIds.push(answer.wait.waitId);
    requestIds.push(requestId);
  }
  if (left !== undefined) return { session, waitIds, requestIds, left };
  if (message === undefined) return { session: waitIds.length > 0 ? session : await runtime.get(session.id), waitIds, requestIds };
  const requestId = toMessageRequestId(message.id);
  await runtime.send(session.id, message, { ...toOrigin(caller), requestId, until: 'accepted', ...rules });
  return { session, message, waitIds, requestIds: [...requestIds, requestId] };
}
