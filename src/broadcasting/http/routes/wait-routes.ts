// Routes that answer what sessions wait for.
// N1. An answer counts only for what was shown: the digest of the wait that `authorize` saw goes with it.
import type { JsonObject } from '../../../lib/index.ts';
import { describeValue, InvalidArgumentError, jsonEquals, omitUndefined, present } from '../../../lib/index.ts';
import type { ActionOptions, ListedWait, RecordedAction, Session, SessionResult } from '../../../sessions/index.ts';
import { ForeignApprovalError, ForgedApprovalError, StaleApprovalError } from '../../../sessions/index.ts';
import type { Grant } from '../../../step-by-step/index.ts';
import { createWaitError, readWaitHistory } from '../find-wait.ts';
import { toWholeResponse } from '../json-response.ts';
import { assertSeen, signSight } from '../seen-wait.ts';
import { toIso, toShownArgs, toWaitView, toWholeWaitView } from '../wait-view.ts';
import type { RequestedWait } from '../authorization.ts';
import { readQuery } from './read-query.ts';
import type { ActionPlan, Body, Route, RouteCall, SessionCall, WaitCall } from './route.ts';
import { actionFields, getView, readActionOptions, readFields, readText, send, toPlan } from './route.ts';

async function showWait(call: WaitCall): Promise<Response> {
  const { wait, services } = call;
  if (wait === undefined) throw await createWaitError(services.runtime, call.session, call.waitId);
  return toWholeResponse(200, toWholeWaitView(wait, await signSight(services.signer, { wait, by: call.by })));
}

const showWaits = (call: SessionCall): Response =>
  send(call, 200, { waits: call.session.waitingFor.map((wait) => toWaitView(wait, getView(call))) });

const toListedView = ({ sessionId, tenant, owner, agent, wait, summary, since }: ListedWait): JsonObject =>
  present({
    session_id: sessionId,
    tenant,
    owner,
    agent: agent.id,
    wait_id: wait.id,
    type: wait.type,
    tool: wait.toolName,
    limit: wait.limit,
    asked_by: wait.askedBy,
    problem: wait.problem,
    summary,
    digest: wait.digest,
    since: toIso(since),
    expires_at: wait.expiresAt === undefined ? undefined : toIso(wait.expiresAt),
  });

/** Lists what waits for somebody, in all sessions that the caller may see. */
async function listWaits(call: RouteCall): Promise<Response> {
  const { services } = call;
  const { waits, cursor } = await services.runtime.waits(readQuery(call, ['agent', 'tenant', 'owner', 'tag', 'limit', 'cursor']));
  const visible = new Map<string, Session | undefined>();
  for (const { sessionId } of waits) {
    if (visible.has(sessionId)) continue;
    // One that was deleted meanwhile is not shown.
    const session = await services.runtime.get(sessionId).catch(() => undefined);
    const isVisible = session !== undefined && (await services.gate.isVisible(call, session));
    visible.set(sessionId, isVisible ? session : undefined);
  }
  const shown = waits.flatMap((listed) => {
    // One that was answered meanwhile is not shown either.
    const whole = visible.get(listed.sessionId)?.waitingFor.find(({ id }) => id === listed.wait.id);
    if (whole === undefined) return [];
    // Holds: JSON that a store held.
    const args = ('args' in whole ? toShownArgs(whole.args, getView(call)) : {}) as JsonObject;
    return [{ ...toListedView(listed), ...args }];
  });
  return send(call, 200, { waits: shown, ...(cursor !== undefined && { cursor }) });
}

/** Throws if an answer is not for what is waited for. */
async function checkDigest({ services: { runtime }, session }: WaitCall, wait: RequestedWait, digest: string): Promise<void> {
  if (digest === wait.digest) return;
  const { digests } = await readWaitHistory(runtime, session.id, wait.id);
  throw digests.has(digest) ? new StaleApprovalError(wait.id) : new ForgedApprovalError(wait.id);
}

/** Finds a request that was made before: repeating it has no effect, and returns its result. */
async function findRepeated(call: WaitCall, { requestId }: ActionOptions): Promise<RecordedAction | undefined> {
  if (requestId === undefined) return undefined;
  const { services, session, by } = call;
  const actions = await services.runtime.actions(session.id);
  return actions.find((action) => action.requestId === requestId && jsonEquals({ ...action.by }, { ...by }));
}

/** An answer, read. */
interface ReadAnswer {
  readonly body: Body;
  readonly wait: { readonly id: string; readonly digest: string };
  readonly options: ActionOptions & { readonly until: 'rest' | 'accepted' };
}

async function readAnswer(call: WaitCall, fields: readonly string[]): Promise<ReadAnswer> {
  const { services, session, waitId, wait } = call;
  const body = await readFields(call, [...fields, 'digest', 'session_id', ...actionFields]);
  const options = readActionOptions(call, body);
  const [digest, meant] = [readText(body, 'digest'), readText(body, 'session_id')];
  if (meant !== undefined && meant !== session.id) throw new ForeignApprovalError(waitId, { own: session.id, given: meant });
  if (wait !== undefined) return { body, options, wait: { id: waitId, digest: digest ?? wait.digest } };
  const repeated = await findRepeated(call, options);
  if (repeated === undefined) throw await createWaitError(services.runtime, session, waitId);
  // The first one may have been given the digest of the wait that was open then.
  const first = 'digest' in repeated ? repeated.digest : undefined;
  return { body, options, wait: { id: waitId, digest: digest ?? first ?? '' } };
}

/** Returns the plan of an answer. Whether it is for what is waited for is checked after its author: nobody else learns that. */
const toAnswerPlan = (call: WaitCall, { wait, options }: ReadAnswer, plan: Parameters<typeof toPlan>[2]): ActionPlan =>
  toPlan(call, options, {
    ...plan,
    act: async () => {
      if (call.wait !== undefined) await checkDigest(call, call.wait, wait.digest);
      return plan.act();
    },
  });

async function approve(call: WaitCall): Promise<ActionPlan> {
  const read = await readAnswer(call, ['args', 'seen', 'scope']);
  const { body, wait, options } = read;
  const given = readText(body, 'scope');
  if (given !== undefined && given !== 'session')
    throw new InvalidArgumentError(`scope must be "session" if it is given, not ${describeValue(given)}.`);
  if (body['digest'] === undefined)
    throw new InvalidArgumentError('An approval needs the digest of what was shown. Pass the digest of the wait.');
  const seen = readText(body, 'seen');
  const scope = given === undefined ? {} : ({ scope: 'session' } as const);
  const edited = omitUndefined({ args: body['args'] });
  const act = async (): Promise<SessionResult> => {
    if (call.wait !== undefined)
      await assertSeen({ signer: call.services.signer, view: getView(call) }, { wait: call.wait, by: call.by }, seen);
    return call.services.runtime.approve(call.session.id, wait, { ...options, ...edited, ...scope });
  };
  return toAnswerPlan(call, read, { input: scope, ...edited, act });
}

/** Revokes an approval that was given for the rest of the session. */
async function revoke(call: SessionCall): Promise<ActionPlan> {
  const options = readActionOptions(call, await readFields(call, actionFields));
  const approvalId = call.params['approval'] ?? '';
  const act = (): Promise<SessionResult> => call.services.runtime.revokeApproval(call.session.id, approvalId, options);
  return toPlan(call, options, { input: { approvalId }, act });
}

async function reject(call: WaitCall): Promise<ActionPlan> {
  const read = await readAnswer(call, ['reason']);
  const input = omitUndefined({ reason: readText(read.body, 'reason') });
  const act = (): Promise<SessionResult> => call.services.runtime.reject(call.session.id, read.wait, { ...read.options, ...input });
  return toAnswerPlan(call, read, { input, act });
}

async function giveAnswer(call: WaitCall): Promise<ActionPlan> {
  const read = await readAnswer(call, ['value']);
  const value = read.body['value'] ?? null;
  const act = (): Promise<SessionResult> => call.services.runtime.answer(call.session.id, read.wait, { ...read.options, value });
  return toAnswerPlan(call, read, { input: { value }, act });
}

const names = { steps: 'steps', tokens: 'tokens', wall_ms: 'wallMs', active_ms: 'activeMs', cost_usd: 'costUsd' } as const;

async function grant(call: SessionCall): Promise<ActionPlan> {
  const body = await readFields(call, [...Object.keys(names), ...actionFields]);
  const options = readActionOptions(call, body);
  const given = Object.entries(names).flatMap(([field, name]) => (body[field] === undefined ? [] : [[name, body[field]]]));
  // Holds: the runtime checks the amounts.
  const amounts = Object.fromEntries(given) as Grant;
  return toPlan(call, options, { input: { amounts }, act: () => call.services.runtime.grant(call.session.id, amounts, options) });
}

const path = '/sessions/:session/waits/:wait';

export const waitRoutes: readonly Route[] = [
  { method: 'GET', path: '/waits', action: 'waits', on: 'server', run: listWaits },
  { method: 'GET', path: '/sessions/:session/waits', action: 'get', on: 'session', run: showWaits },
  { method: 'GET', path, action: 'wait', on: 'wait', run: showWait },
  { method: 'POST', path: `${path}/approve`, action: 'approve', on: 'wait', plan: approve },
  { method: 'POST', path: `${path}/reject`, action: 'reject', on: 'wait', plan: reject },
  { method: 'POST', path: `${path}/answer`, action: 'answer', on: 'wait', plan: giveAnswer },
  { method: 'POST', path: '/sessions/:session/approvals/:approval/revoke', action: 'revoke', on: 'session', plan: revoke },
  { method: 'POST', path: '/sessions/:session/grant', action: 'grant', on: 'session', plan: grant },
];
