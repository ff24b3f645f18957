// Answers to interrupts, as actions on a session.
// W1. Each answer is for the wait whose digest is in the id of its interrupt. The runtime refuses any other.
// W2. The same answer twice has an effect once: something that was answered is not waited for any more. A grant needs an id for that.
import type { Json } from '../../lib/index.ts';
import {
  checkKeys,
  describeValue,
  InvalidArgumentError,
  isRecord,
  omitUndefined,
  parseJsonText,
  systemIds,
  toCanonical,
} from '../../lib/index.ts';
import type { ActionOptions, Actor, SessionResult, SessionRuntime, SessionWait } from '../../sessions/index.ts';
import type { Grant } from '../../step-by-step/index.ts';
import { assertParsable } from '../http/index.ts';
import type { InterruptRef } from './interrupts.ts';
import type { ResumeEntry, ToolAnswer } from './read-input.ts';

/** Action that an answer asks for. */
export type Decision =
  | { readonly action: 'approve'; readonly args?: Json; readonly scope?: 'session'; readonly seen?: string }
  | { readonly action: 'reject'; readonly reason: string }
  | { readonly action: 'answer'; readonly value: Json }
  | { readonly action: 'grant'; readonly amounts: Grant }
  | { readonly action: 'resume' }
  | { readonly action: 'cancel'; readonly reason: string };

/** An answer of somebody to something that is waited for. */
export interface GivenAnswer {
  readonly interruptId: string;
  readonly wait: InterruptRef;
  readonly decision: Decision;
  readonly by: Actor;
  readonly traceparent?: string;
}

const cancelled = 'The request was cancelled.';

function toJson(value: unknown, where: string): Json {
  const canonical = toCanonical(value ?? null);
  if (canonical.ok) return canonical.value;
  throw new InvalidArgumentError(`The payload ${where} cannot be stored: ${canonical.path} ${canonical.problem}.`);
}

/** Throws for a field that would be ignored: what was decided would not be what is done. */
function checkApproval(payload: Readonly<Record<string, unknown>>): void {
  checkKeys('the payload of an approval', payload, ['approved', 'editedArgs', 'reason', 'scope', 'seen']);
  const { scope, reason, seen } = payload;
  if (scope !== undefined && scope !== 'session')
    throw new InvalidArgumentError(`scope must be "session" if it is given, not ${describeValue(scope)}.`);
  for (const [name, text] of Object.entries({ reason, seen }))
    if (text !== undefined && typeof text !== 'string')
      throw new InvalidArgumentError(`${name} must be a string if it is given, not ${describeValue(text)}.`);
}

function readApproval(payload: unknown): Decision {
  if (isRecord(payload)) checkApproval(payload);
  const { approved, editedArgs, reason, scope, seen } = isRecord(payload) ? payload : { approved: payload };
  if (approved === false) return { action: 'reject', reason: typeof reason === 'string' && reason !== '' ? reason : 'no reason was given' };
  if (approved !== true)
    throw new InvalidArgumentError(
      `An approval needs the payload { "approved": true } or { "approved": false }, not ${describeValue(payload)}.`,
    );
  return {
    action: 'approve',
    ...(editedArgs !== undefined && { args: toJson(editedArgs, 'of an approval') }),
    ...(scope === 'session' && { scope }),
    ...(typeof seen === 'string' && { seen }),
  };
}

function readGrant(payload: unknown): Decision {
  const { approved = true, ...amounts } = isRecord(payload) ? payload : { approved: payload };
  if (approved === false) return { action: 'reject', reason: 'The limit was not raised.' };
  if (approved !== true)
    throw new InvalidArgumentError(
      `A grant needs a payload such as { "steps": 5 }, or { "approved": false } if the limit stays, not ${describeValue(isRecord(payload) ? approved : payload)}.`,
    );
  // The runtime checks the amounts.
  return { action: 'grant', amounts };
}

/** Reads what an entry decides about a wait. */
export function readDecision({ status, payload }: ResumeEntry, wait: Pick<SessionWait, 'type'> & { readonly reason?: string }): Decision {
  const isAnswered = status === 'resolved';
  switch (wait.type) {
    case 'approval':
      return isAnswered ? readApproval(payload) : { action: 'reject', reason: cancelled };
    case 'client-tool':
    case 'unknown-call':
      return isAnswered ? { action: 'answer', value: toJson(payload, 'of an answer') } : { action: 'reject', reason: cancelled };
    case 'grant':
      return isAnswered ? readGrant(payload) : { action: 'reject', reason: cancelled };
    case 'provider':
      return isAnswered ? { action: 'resume' } : { action: 'cancel', reason: cancelled };
    case 'person':
      if (!isAnswered) return { action: 'cancel', reason: cancelled };
      return wait.reason === 'crash-loop' ? { action: 'resume' } : { action: 'answer', value: toJson(payload, 'of an answer') };
  }
}

/** Reads the output of a tool that the page ran. JSON objects and lists are read as such, everything else is text. */
export function readToolDecision({ content, error }: ToolAnswer, maxBytes: number): Decision {
  if (error !== undefined) return { action: 'reject', reason: error };
  if (!/^\s*[[{]/.test(content)) return { action: 'answer', value: content };
  assertParsable(content, maxBytes);
  const value = parseJsonText(content);
  return { action: 'answer', value: value === undefined ? content : toJson(value, 'of a tool') };
}

/** Returns an id for the request that gives an answer. */
export const toAnswerRequestId = ({ decision, interruptId }: GivenAnswer): string =>
  decision.action === 'grant' ? `ag-ui/grant/${interruptId}` : `ag-ui/answer/${systemIds()}`;

/** Gives an answer to the runtime. Settles as soon as it is stored. */
export function giveAnswer(
  runtime: SessionRuntime,
  answer: GivenAnswer,
  { sessionId, requestId }: { readonly sessionId: string; readonly requestId: string },
): Promise<SessionResult> {
  const { decision, by, traceparent } = answer;
  const wait = { id: answer.wait.waitId, digest: answer.wait.digest };
  const options: ActionOptions = { by, ...omitUndefined({ traceparent }), requestId, until: 'accepted' };
  switch (decision.action) {
    case 'approve': {
      const { args, scope } = decision;
      return runtime.approve(sessionId, wait, { ...options, ...(args !== undefined && { args }), ...(scope !== undefined && { scope }) });
    }
    case 'reject':
      return runtime.reject(sessionId, wait, { ...options, reason: decision.reason });
    case 'answer':
      return runtime.answer(sessionId, wait, { ...options, value: decision.value });
    case 'grant':
      return runtime.grant(sessionId, decision.amounts, options);
    case 'resume':
      return runtime.resume(sessionId, options);
    case 'cancel':
      return runtime.cancel(sessionId, decision.reason, options);
  }
}
