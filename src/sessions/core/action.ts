import type { Json, JsonObject } from '../../lib/index.ts';
import type { Grant } from '../../step-by-step/index.ts';

/** Author of an action. */
export interface Actor {
  readonly id: string;
  /** `user`, `staff`, `service`, or a word of the host's own. `system` is reserved: the runtime itself. */
  readonly kind: string;
}

/** Name of an author in explanations; undefined for the runtime itself. */
export const toAuthorName = ({ id, kind }: Actor): string | undefined => (kind === 'system' ? undefined : id);

/** An action that a session is asked for. */
export type ActionRequest =
  | { readonly type: 'create' }
  | {
      readonly type: 'send';
      readonly message: JsonObject;
      /** Absent if it joins the execution that runs. */
      readonly whileRunning?: 'queue' | 'interrupt';
      /** Absent if it supersedes what is waited for. */
      readonly whileWaiting?: 'queue' | 'refuse';
    }
  | {
      readonly type: 'approve';
      readonly waitId: string;
      readonly digest: string;
      /** Edited arguments. */
      readonly args?: Json;
      /** The call as it was shown, with the reason that the tool's rule gave for asking. The runtime adds it. */
      readonly shown?: { readonly toolName: string; readonly args: Json; readonly reason?: string };
      /** Set if it is given for the rest of the session. */
      readonly scope?: 'session';
      /** Id of the earlier approval that covers the call: the runtime has applied it. */
      readonly coveredBy?: string;
    }
  | { readonly type: 'revoke'; readonly approvalId: string }
  | { readonly type: 'reject'; readonly waitId: string; readonly reason: string; readonly digest?: string }
  | { readonly type: 'answer'; readonly waitId: string; readonly value: Json; readonly digest?: string }
  | { readonly type: 'grant'; readonly amounts: Grant }
  | { readonly type: 'cancel'; readonly reason: string }
  | { readonly type: 'resume' }
  | { readonly type: 'erase'; readonly messageId: string }
  | { readonly type: 'fork'; readonly from: ForkPoint };

/** A request to send a message. */
export type SendRequest = Extract<ActionRequest, { readonly type: 'send' }>;

/** The step that a fork starts after. */
export interface ForkPoint {
  readonly sessionId: string;
  readonly execution: number;
  /** Counts from 1 in an execution. 0 is the point before the message that began it. */
  readonly step: number;
}

/** Origin of an action. */
export interface ActionOrigin {
  readonly by: Actor;
  /** The `traceparent` header of the request that asked for it (W3C Trace Context). */
  readonly traceparent?: string;
}

/** A request with its origin and time. Kept in the session's log. */
export type Action = ActionRequest & ActionOrigin & { readonly at: number };

/** An action as stored. */
export type RecordedAction = Action & {
  /** Its number in the log; absent while it waits in the mailbox, or if it was refused there. */
  readonly entry?: number;
  readonly requestId?: string;
  /** Reason why it was not applied, if it was not. */
  readonly refused?: string;
};

/** Author of an action, and how long to wait for its result. */
export interface ActionOptions extends ActionOrigin {
  /** The same request never has an effect twice; repeating it returns its result. @default a new one */
  readonly requestId?: string;
  /** `rest`: settles when the execution has ended or waits. `accepted`: settles as soon as the action is stored. @default 'rest' */
  readonly until?: 'rest' | 'accepted';
}
