import type { ActionOptions, ActionRequest, ForkPoint } from '../core/action.ts';
import type { Session, SessionResult } from '../core/session.ts';
import type { NewSession } from '../core/session-runtime.ts';

/** A session to create: its id is chosen before anything is asked for. */
export type NewSessionRequest = NewSession & { readonly id: string };

/** Changes sessions: in the process that runs them, or through its mailbox. */
export interface SessionAccess {
  create(session: NewSessionRequest, options: ActionOptions): Promise<Session>;
  fork(from: ForkPoint, session: Omit<NewSessionRequest, 'agent'>, options: ActionOptions): Promise<Session>;
  act(sessionId: string, request: ActionRequest, options: ActionOptions): Promise<SessionResult>;
  delete(sessionId: string, options: ActionOptions & { readonly forks?: boolean }): Promise<void>;
}
