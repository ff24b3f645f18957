// Answers to what a session waits for.
// W1. An approval counts only for what was shown: the session, the call, and its arguments as they are.
// W2. An approval may come before the step waits, but not before the call was emitted.
// W3. An answer that cannot be used is refused with a reason of its own, and changes nothing.
import { toAuthorName } from './action.ts';
import { AgentChangedError, ForgedApprovalError, LateAnswerError, StaleApprovalError } from './errors.ts';
import type { AgentIdentity } from './agents.ts';
import { describeIdentity, toIdentity } from './agents.ts';
import { InvalidArgumentError, jsonEquals, omitUndefined } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { AskedCall, Orchestrator, RunState, Wait } from '../../step-by-step/index.ts';
import { AlreadyAnsweredError, NotWaitingError, toAskedCall } from '../../step-by-step/index.ts';
import type { Action, ActionRequest, Actor } from './action.ts';
import { computeApprovalDigest, findAskedCalls } from './approval-digest.ts';
import type { Queue } from './entries.ts';
import { readActions, readEntriesFrom, readStored } from './entries.ts';
import { assertNewMessage, assertTakesMessage } from './message-rules.ts';
import { parseScope } from './parse-input.ts';
import type { LogEntry, SessionReader } from '../store/session-store.ts';
import { assertScopeAllowed } from './session-approvals.ts';
import { readEvents } from './stored-events.ts';

/** A request that answers something that is waited for. */
export type AnswerRequest = Extract<ActionRequest, { readonly waitId: string }>;

export const isAnswer = (request: ActionRequest): request is AnswerRequest => 'waitId' in request;

/** Applies a request to a state. Throws if it cannot be applied. */
export function applyRequest(state: RunState, request: ActionRequest & { readonly by?: Actor }): RunState {
  const by = omitUndefined({ by: request.by && toAuthorName(request.by) });
  switch (request.type) {
    case 'send':
      assertNewMessage(state, request.message['id']);
      assertTakesMessage(state, request);
      return state.withUserMessage(Message.fromJSON(request.message));
    case 'approve':
      return state.approve(request.waitId, request.args === undefined ? by : { args: request.args, ...by });
    case 'reject':
      return state.reject(request.waitId, request.reason, by);
    case 'answer':
      return state.answer(request.waitId, request.value, by);
    case 'grant':
      return state.grant(request.amounts, by);
    case 'cancel':
      return state.cancel(request.reason, by);
    case 'resume':
      return state.waitingFor.some(({ type }) => type === 'provider') ? state.retryNow() : state;
    default:
      return state;
  }
}

/** The session that an answer is checked against. */
export interface AnswerContext {
  readonly log: {
    readonly id: string;
    readonly state: RunState;
    readonly queued: Queue;
    /** Calls that the open step has asked a person to approve, by the id of the wait. */
    readonly asked: ReadonlyMap<string, AskedCall>;
    readonly reader: SessionReader;
  };
  /** The agent that would run the call; undefined if it is not known here. */
  readonly agent: Orchestrator | undefined;
  /** The agent that asked, if the other one is certain to run the call. */
  readonly askedBy?: AgentIdentity;
  /** True while a step is open: it may still ask for what is not waited for yet. */
  readonly isRunning: boolean;
}

const inPast = { approve: 'approved', reject: 'rejected', answer: 'answered' } as const;

function describeAnswer(action: Action & AnswerRequest): string {
  return `it was ${inPast[action.type]} by ${action.by.kind} ${action.by.id} at ${new Date(action.at).toISOString()}`;
}

/** Throws if something was waited for and is not any more: it was answered, or closed without an answer. */
function checkNotOver(waitId: string, entries: readonly LogEntry[], queued: Queue): void {
  // An answer that was refused, or is still queued, has decided nothing.
  for (const action of readActions(entries).toReversed())
    if (isAnswer(action) && action.waitId === waitId && action.refused === undefined && !queued.has(action.entry))
      throw new LateAnswerError(waitId, describeAnswer(action));
  if (findAsking(waitId, entries).length > 0) throw new LateAnswerError(waitId, 'the step that asked was closed without an answer');
}

/** Finds the entries whose events ask under this id. */
const findAsking = (waitId: string, entries: readonly LogEntry[]): readonly LogEntry[] =>
  entries.filter(({ events = '' }) => events.includes(`"waitId":${JSON.stringify(waitId)}`));

async function checkDigest(wait: Wait, digest: string, { id, state, reader }: AnswerContext['log']): Promise<void> {
  if ((await computeApprovalDigest(id, toAskedCall(state, wait))) === digest) return;
  for (const entry of findAsking(wait.id, await readEntriesFrom(reader, id, 1)))
    for (const asked of findAskedCalls(id, readEvents(id, entry)).values())
      if (asked.id === wait.id && (await computeApprovalDigest(id, asked)) === digest) throw new StaleApprovalError(wait.id);
  throw new ForgedApprovalError(wait.id);
}

/** Throws unless an approval that comes before the step waits is for exactly what was emitted. */
async function checkEarlyApproval({ waitId, digest }: AnswerRequest, asked: AskedCall, sessionId: string): Promise<void> {
  if ((await computeApprovalDigest(sessionId, asked)) !== digest) throw new ForgedApprovalError(waitId);
}

/** Throws if the agent cannot run a call as it was approved. */
async function checkApproved(
  { args: sent }: Extract<AnswerRequest, { readonly type: 'approve' }>,
  { toolName, args: asked, agent: inside }: Extract<Wait, { readonly toolName: string }>,
  { agent, askedBy }: { readonly agent: Orchestrator; readonly askedBy: AgentIdentity | undefined },
): Promise<void> {
  const found = toIdentity(agent);
  // What was asked for may be sent back as it is: that changes nothing.
  const args = sent === undefined || jsonEquals(sent, asked) ? undefined : sent;
  // Another version may have no such tool, or one that takes other arguments. The fingerprint says nothing of the runs inside.
  const isChanged = askedBy !== undefined && (askedBy.fingerprint !== found.fingerprint || inside !== undefined);
  if (args === undefined && !isChanged) return;
  const problem = await agent.checkArgs(toolName, args === undefined ? asked : args, inside);
  if (problem === undefined) return;
  if (typeof problem === 'object') {
    // What was shown may be changed by the schema, as it would have been without an approval; what was edited runs as it was sent.
    if (args === undefined) return;
    throw new InvalidArgumentError(`The edited arguments for "${toolName}" were not run: ${problem.change} The call is still waiting.`);
  }
  // Arguments that nobody could get right are not the editor's mistake.
  if (isChanged && (args === undefined || typeof (await agent.checkArgs(toolName, asked, inside)) === 'string')) {
    const versions = { stored: describeIdentity(askedBy), found: describeIdentity(found) };
    throw new AgentChangedError(found.id, { ...versions, toolName, problem, inside });
  }
  throw new InvalidArgumentError(`The edited arguments for "${toolName}" are not valid: ${problem} The call is still waiting.`);
}

/** Throws if an answer cannot be used. */
export async function checkAnswer(request: AnswerRequest, { log, agent, askedBy, isRunning }: AnswerContext): Promise<void> {
  const { state } = log;
  // A mail may come from a process that checked less.
  if (request.type === 'approve') parseScope(request);
  // Looked up before anything is awaited: the step may end meanwhile.
  const asked = log.asked.get(request.waitId);
  const wait = state.waitingFor.find(({ id }) => id === request.waitId);
  if (wait === undefined) {
    if (state.pendingStep?.answers.some(({ id }) => id === request.waitId) === true) throw new AlreadyAnsweredError(request.waitId);
    const entries = await readEntriesFrom(log.reader, log.id, 1);
    readStored(log.id, () => checkNotOver(request.waitId, entries, log.queued));
    if (isRunning && request.type !== 'approve') return;
    if (isRunning && asked !== undefined) return checkEarlyApproval(request, asked, log.id);
    throw new NotWaitingError(
      request.waitId,
      state.waitingFor.map(({ id }) => id),
    );
  }
  if (request.digest !== undefined) await checkDigest(wait, request.digest, log);
  if (request.type === 'approve' && request.scope === 'session') assertScopeAllowed(wait);
  // Throws if the kind of answer is wrong, before anything is stored.
  applyRequest(state, request);
  if (request.type === 'approve' && 'toolName' in wait && agent !== undefined) await checkApproved(request, wait, { agent, askedBy });
}
