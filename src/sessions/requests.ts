// Requests that were made before.
// Q1. A request that was stored once has no effect again: whoever repeats it hears what came of it.
// Q2. The same id with other content is refused.
import type { Json, JsonObject } from '../lib/index.ts';
import { jsonEquals } from '../lib/index.ts';
import type { Action, ActionRequest } from './action.ts';
import { ActionRefusedError } from './action-refused-error.ts';
import { readEntriesFrom, readBody } from './entry-body.ts';
import { RequestReusedError } from './request-reused-error.ts';
import type { SessionLog } from './session-log.ts';
import type { LogEntry, SessionStore } from './session-store.ts';
import type { WaitTarget } from './waiters.ts';

/** The end of an execution. In an object, because a promise of a promise is just the promise. */
export interface PendingResult {
  readonly end: Promise<number>;
  /** The execution, where that is known already. */
  readonly execution?: number;
}

/** What comes of an action that waits for this. */
export const toPendingResult = (about: WaitTarget, end: Promise<number>): PendingResult => ({
  end,
  ...('execution' in about && { execution: about.execution }),
});

/** What repeated requests need of their session. */
interface RequestsHost {
  readonly store: SessionStore;
  /** Goes on with what is left to do: whoever asks again wants that. */
  readonly carryOn: () => void;
  /** Settles at once where that has come to rest. */
  readonly coming: (about: WaitTarget) => Promise<number>;
  /** Rejects where another may write now. */
  readonly confirm: () => Promise<void>;
}

// Every message has an id of its own; that it was sent again is told by what it says.
function contentOf(request: ActionRequest): Json {
  const { by: _, at: __, ...rest } = request as Action;
  if (rest.type !== 'send') return rest as unknown as JsonObject;
  const { id: ___, ...message } = rest.message;
  return { type: 'send', message };
}

export class Requests {
  readonly #log: SessionLog;
  readonly #host: RequestsHost;
  readonly #open = new Map<string, { readonly request: ActionRequest; readonly coming: PendingResult }>();

  constructor(log: SessionLog, host: RequestsHost) {
    this.#log = log;
    this.#host = host;
  }

  /** A request is under way. */
  add(requestId: string, request: ActionRequest, coming: PendingResult): void {
    this.#open.set(requestId, { request, coming });
    const forget = (): void => {
      this.#open.delete(requestId);
    };
    coming.end.then(forget, forget);
  }

  /** What came of a request that was made before, or will come; undefined where it was not made. */
  async find(requestId: string, request: ActionRequest): Promise<PendingResult | undefined> {
    const open = this.#open.get(requestId);
    if (open !== undefined) {
      if (!jsonEquals(contentOf(open.request), contentOf(request))) throw new RequestReusedError(requestId);
      return open.coming;
    }
    const entry = await this.#host.store.findRequest(this.#log.id, requestId);
    const action = entry === undefined ? undefined : readBody(entry.body).action;
    if (entry === undefined || action === undefined) return undefined;
    // An entry that this runtime knows nothing of was written by another: the store says who may answer.
    if (entry.n > this.#log.head) await this.#host.confirm();
    if (!jsonEquals(contentOf(action), contentOf(request))) throw new RequestReusedError(requestId);
    this.#host.carryOn();
    const about = await this.#awaitedBy(entry);
    return toPendingResult(about, this.#host.coming(about));
  }

  /** The execution that took in the action of a stored entry, or the entry itself where none has yet. */
  async #awaitedBy({ n, body }: LogEntry): Promise<WaitTarget> {
    const current = this.#log.state.execution.number;
    const { isQueued, execution = current, action } = readBody(body);
    if (isQueued !== true || action?.type === 'cancel') return { execution };
    if (this.#log.queued.has(n)) return { entry: n };
    const later = (await readEntriesFrom(this.#host.store, this.#log.id, n + 1)).map((entry) => readBody(entry.body));
    const refused = later.flatMap((body) => body.refused ?? []).find(({ entry }) => entry === n);
    if (refused !== undefined) throw new ActionRefusedError(refused.why, refused.code);
    return { execution: later.find(({ applied }) => applied?.includes(n) === true)?.execution ?? current };
  }
}
