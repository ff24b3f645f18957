// What a person can do to a session from a page.
// Y1. Each action has an id of its own, so that one that is sent twice counts once.
import type { IdSource, Json, JsonObject } from '../../lib/index.ts';
import { present } from '../../lib/index.ts';
import type { ViewWait } from '../derive-waits.ts';
import type { SessionApi } from './session-api.ts';

/** A wait to be answered: pass back the one that was shown. */
export type ShownWait = Pick<ViewWait, 'wait_id' | 'digest'>;

/** Amounts by which limits are raised. */
export interface ViewGrant {
  readonly steps?: number;
  readonly tokens?: number;
  readonly wall_ms?: number;
  readonly active_ms?: number;
  readonly cost_usd?: number;
}

/** Actions on a session. Each rejects with `request-failed` if the server refuses it. */
export interface AgentActions {
  /** Sends a message: a text, or parts of text, images and files. */
  send(content: string | readonly JsonObject[]): Promise<void>;
  /** Stops the run; what was written so far is kept. */
  cancel(reason?: string): Promise<void>;
  /** Reads a wait with all its arguments. Its `seen` proves that they were shown: pass it to `approve`. */
  readWait(waitId: string): Promise<JsonObject>;
  /** Approves a call, with other arguments if given. */
  approve(wait: ShownWait, options?: { readonly args?: Json; readonly seen?: string }): Promise<void>;
  /** Rejects a call; the model reads the reason. */
  reject(wait: ShownWait, reason?: string): Promise<void>;
  /** Answers a wait: the output of a client tool, or a person's input. */
  answer(wait: ShownWait, value: Json): Promise<void>;
  /** Raises limits. */
  grant(amounts: ViewGrant): Promise<void>;
}

/** Creates the actions of a page. */
export function createActions(api: SessionApi, ids: IdSource): AgentActions {
  const post = async (path: string, body: object): Promise<void> => {
    await api.post(path, present({ ...body, request_id: ids() }));
  };
  const toPath = (waitId: string): string => `/waits/${encodeURIComponent(waitId)}`;
  return {
    send: (content) => post('/messages', typeof content === 'string' ? { text: content } : { content }),
    cancel: (reason) => post('/cancel', { reason }),
    readWait: (waitId) => api.get(toPath(waitId)),
    approve: ({ wait_id, digest }, options = {}) => post(`${toPath(wait_id)}/approve`, { digest, ...options }),
    reject: ({ wait_id, digest }, reason) => post(`${toPath(wait_id)}/reject`, { digest, reason }),
    answer: ({ wait_id, digest }, value) => post(`${toPath(wait_id)}/answer`, { digest, value }),
    grant: (amounts) => post('/grant', amounts),
  };
}
