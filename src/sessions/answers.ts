// Whether an answer of a person is good.
// W1. An approval counts only for what was shown: the session, the call, and its arguments as they are.
// W2. An answer that cannot be used is refused with a reason of its own, and changes nothing.
import { InvalidArgumentError } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { Orchestrator, RunState, Wait } from '../step-by-step/index.ts';
import { AlreadyAnsweredError, NotWaitingError } from '../step-by-step/index.ts';
import type { Action, ActionRequest } from './action.ts';
import type { ShownCall } from './approval-digest.ts';
import { approvalDigest, findAskedCalls, toShownCall } from './approval-digest.ts';
import { readEntriesFrom, readBody } from './entry-body.ts';
import { ForgedApprovalError } from './forged-approval-error.ts';
import { LateAnswerError } from './late-answer-error.ts';
import type { LogEntry, SessionStore } from './session-store.ts';
import { StaleApprovalError } from './stale-approval-error.ts';
import { readEvents } from './stored-events.ts';

/** A request that settles something that is waited for. */
export type AnswerRequest = Extract<ActionRequest, { readonly waitId: string }>;

export const isAnswer = (request: ActionRequest): request is AnswerRequest => 'waitId' in request;

/** What a request makes of a state. Throws where it cannot be done. */
export function applyRequest(state: RunState, request: ActionRequest): RunState {
  switch (request.type) {
    case 'send':
      return state.withUserMessage(Message.fromJSON(request.message));
    case 'approve':
      return state.approve(request.waitId, request.args === undefined ? {} : { args: request.args });
    case 'reject':
      return state.reject(request.waitId, request.reason);
    case 'answer':
      return state.answer(request.waitId, request.value);
    case 'grant':
      return state.grant(request.amounts);
    case 'cancel':
      return state.cancel(request.reason);
    case 'create':
    case 'resume':
    case 'fork':
      return state;
  }
}

/** What answers are checked against. */
export interface AnswerSurroundings {
  readonly sessionId: string;
  readonly state: RunState;
  readonly store: SessionStore;
  readonly agent: Pick<Orchestrator, 'checkArgs'>;
  /** Actions that wait to be taken in, by their entry. */
  readonly queued: ReadonlyMap<number, unknown>;
}

const allEntries = async (store: SessionStore, sessionId: string): Promise<readonly LogEntry[]> => readEntriesFrom(store, sessionId, 1);

const inPast = { approve: 'approved', reject: 'rejected', answer: 'answered' } as const;

function describeAnswer(action: Action & AnswerRequest): string {
  return `it was ${inPast[action.type]} by ${action.by.kind} ${action.by.id} at ${new Date(action.at).toISOString()}`;
}

/** The answers that were used, or are to be: those that were refused decided nothing. */
function getUsedAnswers(entries: readonly LogEntry[], queued: ReadonlySet<number>): readonly (Action & AnswerRequest)[] {
  const bodies = entries.map(({ n, body }) => ({ n, ...readBody(body) }));
  const refused = new Set(bodies.flatMap((body) => body.refused?.map(({ entry }) => entry) ?? []));
  return bodies.flatMap(({ n, action }) => (action !== undefined && isAnswer(action) && !refused.has(n) && !queued.has(n) ? [action] : []));
}

/** Why nobody waits for this any more: it was settled, or closed without an answer. Undefined where it was never asked. */
async function findWhyOver(waitId: string, { sessionId, store, queued }: AnswerSurroundings): Promise<Error | undefined> {
  const entries = await allEntries(store, sessionId);
  const settling = getUsedAnswers(entries, new Set(queued.keys())).findLast((action) => action.waitId === waitId);
  if (settling !== undefined) return new LateAnswerError(waitId, describeAnswer(settling));
  const wasAsked = entries.some(({ events = '' }) => events.includes(`"waitId":${JSON.stringify(waitId)}`));
  return wasAsked ? new LateAnswerError(waitId, 'the step that asked for it was closed without an answer') : undefined;
}

/** The calls about which this session has asked under this id. */
async function askedCalls(waitId: string, { sessionId, store, state }: AnswerSurroundings): Promise<readonly ShownCall[]> {
  const texts = (await allEntries(store, sessionId)).flatMap(({ events }) => events ?? []);
  const asking = texts.filter((text) => text.includes(`"waitId":${JSON.stringify(waitId)}`));
  const commits = await Promise.all(asking.map((text) => readEvents(text, () => Promise.resolve(state))));
  return commits.flatMap((events) => [...findAskedCalls(sessionId, events).values()]).filter(({ id }) => id === waitId);
}

async function checkDigest(wait: Wait, digest: string, surroundings: AnswerSurroundings): Promise<void> {
  const { sessionId, state } = surroundings;
  if ((await approvalDigest(sessionId, toShownCall(state, wait))) === digest) return;
  for (const asked of await askedCalls(wait.id, surroundings)) {
    if ((await approvalDigest(sessionId, asked)) === digest) throw new StaleApprovalError(wait.id);
  }
  throw new ForgedApprovalError(wait.id);
}

/** Refuses an answer that is not good. `isRunning`: what is not waited for yet may be asked in the step that is under way. */
export async function checkAnswer(request: AnswerRequest, surroundings: AnswerSurroundings, isRunning: boolean): Promise<void> {
  const { state, agent } = surroundings;
  const wait = state.waitingFor.find(({ id }) => id === request.waitId);
  if (wait === undefined) {
    if (state.pendingStep?.answers.some(({ id }) => id === request.waitId) === true) throw new AlreadyAnsweredError(request.waitId);
    const over = await findWhyOver(request.waitId, surroundings);
    if (over !== undefined) throw over;
    if (isRunning) return;
    throw new NotWaitingError(
      request.waitId,
      state.waitingFor.map(({ id }) => id),
    );
  }
  if (request.digest !== undefined) await checkDigest(wait, request.digest, surroundings);
  // Says now what is wrong with the kind of answer, before anything is stored.
  applyRequest(state, request);
  if (request.type !== 'approve' || request.args === undefined || !('toolName' in wait)) return;
  const problem = await agent.checkArgs(wait.toolName, request.args, wait.agent);
  if (problem !== undefined)
    throw new InvalidArgumentError(`The edited arguments for "${wait.toolName}" cannot be used: ${problem} The call still waits.`);
}
