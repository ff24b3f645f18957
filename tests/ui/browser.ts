import type { PageChannel, PageEnvironment, PageLocks } from '../../src/ui/index.ts';

/** Services of one browser. Node has the same ones. */
export function createBrowser(): PageEnvironment {
  // Holds: these have what is used of them.
  const { navigator, BroadcastChannel } = globalThis as unknown as {
    readonly navigator: { readonly locks: PageLocks };
    readonly BroadcastChannel: new (name: string) => PageChannel;
  };
  return { locks: navigator.locks, createChannel: (name) => new BroadcastChannel(name) };
}
