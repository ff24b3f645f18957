// What the page around a view offers: signs of waking up, and ways to share a connection between tabs.

/** A part of the Web Locks API. */
export interface PageLocks {
  request(
    name: string,
    options: { readonly signal?: AbortSignal; readonly steal?: boolean; readonly ifAvailable?: boolean },
    run: (lock: unknown) => Promise<unknown>,
  ): Promise<unknown>;
}

/** A part of BroadcastChannel. */
export interface PageChannel {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** A part of EventTarget. */
interface PageEvents {
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** Services of a browser. Each may be absent: a view then does without. */
export interface PageEnvironment {
  /** Emits `online`, `pageshow` and `focus`. */
  readonly window?: PageEvents;
  /** Emits `visibilitychange`. */
  readonly document?: PageEvents;
  readonly locks?: PageLocks;
  readonly createChannel?: (name: string) => PageChannel;
}

const isEvents = (value: unknown): value is PageEvents =>
  typeof value === 'object' && value !== null && 'addEventListener' in value && 'removeEventListener' in value;

/** Finds the services of the browser that this runs in. Elsewhere there are none: connections of a server are not shared. */
export function findEnvironment(): PageEnvironment {
  // Holds: these are read only if they are there.
  const page = globalThis as unknown as {
    readonly document?: unknown;
    readonly navigator?: { readonly locks?: PageLocks };
    readonly BroadcastChannel?: new (name: string) => unknown;
  };
  const { document, navigator, BroadcastChannel } = page;
  if (!isEvents(document)) return {};
  const locks = navigator?.locks;
  return {
    document,
    ...(isEvents(page) && { window: page }),
    ...(locks !== undefined && { locks }),
    // Holds: a channel has what is used of it.
    ...(BroadcastChannel !== undefined && { createChannel: (name: string) => new BroadcastChannel(name) as PageChannel }),
  };
}

/** Calls back when the page wakes up or the network is back; returns its unsubscribe. */
export function onWake({ window, document }: PageEnvironment, call: () => void): () => void {
  const sources: readonly (readonly [PageEvents | undefined, string])[] = [
    [window, 'online'],
    [window, 'pageshow'],
    [window, 'focus'],
    [document, 'visibilitychange'],
  ];
  for (const [source, type] of sources) source?.addEventListener(type, call);
  return () => {
    for (const [source, type] of sources) source?.removeEventListener(type, call);
  };
}
