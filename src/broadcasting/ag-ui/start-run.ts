// What a request does to its session.
// D1. Answers have an effect only if everything that is waited for is answered; a message has none while something is waited for.
// D2. A message is sent once, however often the page sends it.
import type { JsonObject } from '../../lib/index.ts';
import { InvalidArgumentError, listAll, readField } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { Actor, Session, SessionWait } from '../../sessions/index.ts';
import { AlreadyAnsweredError, MessageRefusedError } from '../../step-by-step/index.ts';
import { createWaitError, readWaitHistory } from '../http/index.ts';
import type { GivenAnswer } from './answers.ts';
import { giveAnswer, toAnswerRequestId } from './answers.ts';
import type { AgUiServices } from './handler-options.ts';
import { toInterruptId } from './interrupts.ts';
import type { InputMessage } from './read-input.ts';
import type { SessionRun } from './take-answers.ts';
import { takeAnswers } from './take-answers.ts';

/** A run that was asked for. */
export interface StartedRun {
  /** The session before anything was done to it. */
  readonly session: Session;
  /** The message that was sent, if it was new. */
  readonly message?: Message;
  /** Ids of the waits that were answered. */
  readonly waitIds: readonly string[];
  /** Ids of the requests that were made. */
  readonly requestIds: readonly string[];
  /** Waits that are left to be answered before anything is run. Undefined unless some of several were answered. */
  readonly left?: readonly SessionWait[];
}

const toMessageRequestId = (messageId: string): string => `ag-ui/message/${messageId}`;

/** Creates the session of a thread. */
export async function createThread(
  { runtime, newSession }: AgUiServices,
  { request, by, threadId, body }: { readonly request: Request; readonly by: Actor; readonly threadId: string; readonly body: JsonObject },
): Promise<Session> {
  const wishes = await newSession({ request, action: 'create', by, body });
  return runtime.create({ ...wishes, id: threadId }, { by, until: 'accepted', requestId: 'ag-ui/thread' });
}

/** Returns the newest message of a page if the session does not have it yet. Throws if it was changed since. */
function findNewMessage({ state }: Session, message: InputMessage | undefined): Message | undefined {
  if (message === undefined) return undefined;
  const sent = Message.user(message.content, { id: message.id });
  const known = state.messages.find(({ id }) => id === sent.id);
  if (known === undefined) return sent;
  if (known.isUser() && known.text === sent.text) return undefined;
  throw new InvalidArgumentError(`Message "${message.id}" was sent before with another text. Send the new text under another id.`);
}

const describeOpen = (waits: readonly SessionWait[]): string => listAll(waits.map((wait) => `"${toInterruptId(wait)}"`));

/** Chooses the answers that have an effect, and what is still to be answered. */
function chooseAnswers(
  { services, session, input }: SessionRun,
  given: readonly GivenAnswer[],
  message: Message | undefined,
): { readonly answers: readonly GivenAnswer[]; readonly left?: readonly SessionWait[] } {
  const open = session.waitingFor;
  if (open.length === 0) return { answers: given };
  const answered = services.collector.collect(input.threadId, given, open.map(toInterruptId));
  const left = open.filter((wait) => !answered.has(toInterruptId(wait)));
  if (left.length > 0 && message !== undefined)
    throw new MessageRefusedError(
      left.map(({ id }) => id),
      `AG-UI takes no message while a run is interrupted: answer ${describeOpen(left)} in "resume" first.`,
    );
  if (left.length === 0) return { answers: [...answered.values()] };
  return given.length === 0 ? { answers: [] } : { answers: [], left };
}

/** Gives an answer. One that somebody else has given differently meanwhile is refused as late. */
async function give({ services: { runtime }, session }: SessionRun, answer: GivenAnswer): Promise<boolean> {
  try {
    return (await giveAnswer(runtime, session.id, answer)).isRepeated !== true;
  } catch (error) {
    if (readField(error, 'code') !== 'request-reused') throw error;
    const { waitId } = answer.wait;
    const { ending } = await readWaitHistory(runtime, session.id, waitId);
    throw ending === undefined ? new AlreadyAnsweredError(waitId) : await createWaitError(runtime, session, waitId);
  }
}

/** Does what a request asks for: gives the answers, and sends the message. Settles as soon as that is stored. */
export async function startRun(run: SessionRun): Promise<StartedRun> {
  const { services, request, input, session } = run;
  const { gate, runtime } = services;
  const { by: reader } = await gate.check({ request, action: 'events', session });
  const message = findNewMessage(session, input.message);
  const { by: sender } = message === undefined ? { by: reader } : await gate.check({ request, action: 'send', session });
  const given = await takeAnswers(run);
  const { answers, left } = chooseAnswers(run, given, message);
  const isEdited = ({ decision }: GivenAnswer): boolean => decision.action === 'approve' && decision.args !== undefined;
  const waitIds: string[] = [];
  const requestIds: string[] = [];
  // Edited arguments are checked at once: if they do not fit, nothing else was done.
  for (const answer of answers.toSorted((one, other) => Number(isEdited(other)) - Number(isEdited(one)))) {
    if (!(await give(run, answer))) continue;
    waitIds.push(answer.wait.waitId);
    requestIds.push(toAnswerRequestId(answer.interruptId));
  }
  if (message === undefined) return { session, waitIds, requestIds, ...(left !== undefined && { left }) };
  const requestId = toMessageRequestId(message.id);
  await runtime.send(session.id, message, { by: sender, requestId, until: 'accepted', whileWaiting: 'refuse' });
  return { session, message, waitIds, requestIds: [...requestIds, requestId] };
}
