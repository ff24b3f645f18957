// Approvals that were given for the rest of a session.
// Y1. An approval covers calls of the same tool and the same nested run, with the same arguments unless the tool allows any, until its uses
//     or its time are up, or somebody revokes it.
// Y2. The call that it was given for is its first use. Each use is an approval in the log that says so.
// Y3. A fork starts without any: nobody has approved anything in it.
import type { Json } from '../../lib/index.ts';
import { describeValue, InvalidArgumentError, jsonEquals, omitUndefined } from '../../lib/index.ts';
import type { RunState, Wait } from '../../step-by-step/index.ts';
import type { Action, Actor } from './action.ts';
import type { ApprovalUse } from './action-events.ts';

/** An approval that was given for the rest of a session. */
export interface SessionApproval {
  readonly id: string;
  readonly toolName: string;
  /** Arguments that it covers; absent if it covers any. */
  readonly args?: Json;
  /** Path of the nested run whose calls it covers; absent if those of the session's agent. */
  readonly agent?: string;
  /** Author of the approval, and its time. */
  readonly by: Actor;
  readonly at: number;
  readonly maxUses: number;
  readonly uses: number;
  readonly expiresAt: number;
}

type ApprovalWait = Extract<Wait, { readonly type: 'approval' }>;

/** Returns the id of an approval that was given for what has this digest. */
export const toApprovalId = (digest: string): string => digest.slice(0, 16);

/** Throws if an approval of a wait may not be given for the rest of a session. */
export function assertScopeAllowed(wait: Wait): void {
  if (wait.type === 'approval' && wait.approvalScope !== undefined) return;
  const what = 'toolName' in wait ? `"${wait.toolName}"` : `"${wait.id}"`;
  throw new InvalidArgumentError(
    `${what} cannot be approved for the rest of the session: its tool has no approvalScope. Approve this call only, without scope.`,
  );
}

const isValid = ({ uses, maxUses, expiresAt }: SessionApproval, now: number): boolean => uses < maxUses && now < expiresAt;

const covers = (approval: SessionApproval, { toolName, args, agent }: ApprovalWait): boolean =>
  approval.toolName === toolName && approval.agent === agent && (approval.args === undefined || jsonEquals(approval.args, args));

/** A call that waits, and the approval that covers it. */
export interface CoveredWait {
  readonly wait: ApprovalWait;
  readonly approval: SessionApproval;
}

/** Finds the first call that waits for an approval and is covered by one that was given earlier. */
export function findCoveredWait(approvals: readonly SessionApproval[], waitingFor: readonly Wait[], now: number): CoveredWait | undefined {
  if (approvals.length === 0) return undefined;
  for (const wait of waitingFor) {
    if (wait.type !== 'approval' || wait.problem !== undefined) continue;
    const approval = approvals.find((each) => isValid(each, now) && covers(each, wait));
    if (approval !== undefined) return { wait, approval };
  }
  return undefined;
}

/** Throws if there is no such approval. */
export function assertApproval(approvals: readonly SessionApproval[], approvalId: string): SessionApproval {
  const found = approvals.find(({ id }) => id === approvalId);
  if (found !== undefined) return found;
  const known = approvals.map(({ id }) => id).join(', ');
  throw new InvalidArgumentError(
    `Unknown approval ${describeValue(approvalId)}. ${known === '' ? 'This session has none' : `It has ${known}`}; see session.approvals.`,
  );
}

/** Returns the approvals of a session after an action that was applied to a state; the same list if it changes none. */
export function updateApprovals(approvals: readonly SessionApproval[], action: Action, before: RunState): readonly SessionApproval[] {
  if (action.type === 'revoke') return approvals.filter(({ id }) => id !== action.approvalId);
  if (action.type !== 'approve') return approvals;
  if (action.coveredBy !== undefined)
    return approvals.map((each) => (each.id === action.coveredBy ? { ...each, uses: each.uses + 1 } : each));
  const wait = before.waitingFor.find(({ id }) => id === action.waitId);
  if (action.scope !== 'session' || wait?.type !== 'approval' || wait.approvalScope === undefined) return approvals;
  const { toolName, args, agent, approvalScope: scope } = wait;
  const given: SessionApproval = omitUndefined({
    id: toApprovalId(action.digest),
    toolName,
    args: scope.arguments === 'any' ? undefined : args,
    agent,
    by: action.by,
    at: action.at,
    maxUses: scope.maxUses,
    uses: 1,
    expiresAt: action.at + scope.expiresMs,
  });
  // Those that cover nothing any more make room.
  return [...approvals.filter((each) => isValid(each, action.at)), given];
}

/** Describes the use of an approval that an action is, if it is one. */
export function findUse(approvals: readonly SessionApproval[], action: Action): ApprovalUse | undefined {
  if (action.type !== 'approve') return undefined;
  const id = action.coveredBy ?? (action.scope === 'session' ? toApprovalId(action.digest) : undefined);
  const approval = approvals.find((each) => each.id === id);
  return approval && { id: approval.id, use: approval.uses, maxUses: approval.maxUses };
}
