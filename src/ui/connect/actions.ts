// What a person can do to a session from a page.
// Y1. Each action has an id of its own, so that one that is sent twice counts once.
// Y2. What the server has accepted may still be refused: the same request again is answered with what became of it.
import type { Clock, IdSource, Json, JsonObject } from '../../lib/index.ts';
import { present, sleep } from '../../lib/index.ts';
import type { ViewWait } from '../derive-waits.ts';
import type { SessionApi } from './session-api.ts';
import { isTemporary } from './session-api.ts';

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

/** An action that the server has accepted. */
export interface ActionReceipt {
  readonly requestId: string;
  /** True if it is stored, and nobody has applied it yet: it may still be refused. */
  readonly isPending: boolean;
  /** Asks now and then until the action is applied. Rejects with `request-failed` if it is refused after all. */
  whenSettled(signal?: AbortSignal): Promise<void>;
}

/** Actions on a session. Each settles when the server has accepted it, and rejects with `request-failed` if the server refuses it. */
export interface AgentActions {
  /**
   * Sends a message: a text, or parts of text, images and files. With the `requestId` of an earlier message it is that one, and not sent
   * again.
   */
  send(content: string | readonly JsonObject[], options?: { readonly requestId?: string }): Promise<ActionReceipt>;
  /** Stops the run; what was written so far is kept. */
  cancel(reason?: string): Promise<ActionReceipt>;
  /** Reads a wait with all its arguments. Its `seen` proves that they were shown: pass it to `approve`. */
  readWait(waitId: string): Promise<JsonObject>;
  /** Approves a call, with other arguments if given. */
  approve(wait: ShownWait, options?: { readonly args?: Json; readonly seen?: string }): Promise<ActionReceipt>;
  /** Rejects a call; the model reads the reason. */
  reject(wait: ShownWait, reason?: string): Promise<ActionReceipt>;
  /** Answers a wait: the output of a client tool, or a person's input. */
  answer(wait: ShownWait, value: Json): Promise<ActionReceipt>;
  /** Resumes a session that waits for a provider, or for somebody to look at a step that ended its process. */
  resume(): Promise<ActionReceipt>;
  /** Raises limits. */
  grant(amounts: ViewGrant): Promise<ActionReceipt>;
}

/** Time between two questions about an action that nobody has applied yet. */
const askMs = 2_000;

interface ActionServices {
  readonly ids: IdSource;
  readonly clock: Clock;
}

/** Creates the actions of a page. */
export function createActions(api: SessionApi, { ids, clock }: ActionServices): AgentActions {
  const post = async (path: string, body: object, requestId = ids()): Promise<ActionReceipt> => {
    const isStillPending = async (): Promise<boolean> =>
      (await api.post(path, present({ ...body, request_id: requestId })))['is_pending'] === true;
    const isPending = await isStillPending();
    const whenSettled = async (signal = new AbortController().signal): Promise<void> => {
      for (let isOpen = isPending; isOpen;) {
        await sleep(clock, askMs, signal);
        try {
          isOpen = await isStillPending();
        } catch (error) {
          if (!isTemporary(error)) throw error;
        }
      }
    };
    return { requestId, isPending, whenSettled };
  };
  const toPath = (waitId: string): string => `/waits/${encodeURIComponent(waitId)}`;
  return {
    send: (content, { requestId } = {}) => post('/messages', typeof content === 'string' ? { text: content } : { content }, requestId),
    cancel: (reason) => post('/cancel', { reason }),
    resume: () => post('/resume', {}),
    readWait: (waitId) => api.get(toPath(waitId)),
    approve: ({ wait_id, digest }, options = {}) => post(`${toPath(wait_id)}/approve`, { digest, ...options }),
    reject: ({ wait_id, digest }, reason) => post(`${toPath(wait_id)}/reject`, { digest, reason }),
    answer: ({ wait_id, digest }, value) => post(`${toPath(wait_id)}/answer`, { digest, value }),
    grant: (amounts) => post('/grant', amounts),
  };
}
