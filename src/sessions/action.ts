import type { Json, JsonObject } from '../lib/index.ts';
import { InvalidArgumentError, isRecord, omitUndefined } from '../lib/index.ts';
import type { Grant } from '../step-by-step/index.ts';

/** Author of an action. */
export interface By {
  readonly id: string;
  /** What kind of somebody: `user`, `staff`, `service`, or a word of the host's own. The runtime itself is `system`. */
  readonly kind: string;
}

/** An action that a session is asked for. */
export type ActionRequest =
  | { readonly type: 'create' }
  | { readonly type: 'send'; readonly message: JsonObject }
  | { readonly type: 'approve'; readonly waitId: string; readonly digest: string; readonly args?: Json }
  | { readonly type: 'reject'; readonly waitId: string; readonly reason: string; readonly digest?: string }
  | { readonly type: 'answer'; readonly waitId: string; readonly value: Json; readonly digest?: string }
  | { readonly type: 'grant'; readonly amounts: Grant }
  | { readonly type: 'cancel'; readonly reason: string }
  | { readonly type: 'resume' }
  | { readonly type: 'fork'; readonly from: ForkPoint };

/** Where a fork begins. */
export interface ForkPoint {
  readonly sessionId: string;
  readonly execution: number;
  readonly step: number;
}

/** A request with its author and time. Kept in the session's log. */
export type Action = ActionRequest & { readonly by: By; readonly at: number };

/** An action as stored in the log. */
export type RecordedAction = Action & {
  /** Where it stands in the log. */
  readonly entry: number;
  readonly requestId?: string;
  /** Why it could not be used, where that is so. */
  readonly refused?: string;
};

/** Author of an action, and how long to wait for its result. */
export interface ActionOptions {
  readonly by: By;
  /** The same request never has an effect twice; repeating it gives what came of it. @default a new one */
  readonly requestId?: string;
  /** `rest`: settles when the session has come to rest. `accepted`: settles as soon as the action is stored. @default 'rest' */
  readonly until?: 'rest' | 'accepted';
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Refuses an action that does not say who acts. Gives a copy: what the caller does with the original later is not kept. */
export function checkedOptions(options: ActionOptions): ActionOptions {
  const given: { readonly [Key in keyof ActionOptions]?: unknown } = isRecord(options) ? options : {};
  const { by, requestId, until } = given;
  if (!isRecord(by) || !isText(by['id']) || !isText(by['kind']))
    throw new InvalidArgumentError('Say who acts: by: { id, kind }, both of them text that is not empty.');
  if (requestId !== undefined && !isText(requestId)) throw new InvalidArgumentError('requestId must be text that is not empty.');
  if (until !== undefined && until !== 'rest' && until !== 'accepted')
    throw new InvalidArgumentError(`until must be "rest" or "accepted", not ${JSON.stringify(until)}.`);
  return { by: { id: by['id'], kind: by['kind'] }, ...omitUndefined({ requestId }), ...(until !== undefined && { until }) };
}
