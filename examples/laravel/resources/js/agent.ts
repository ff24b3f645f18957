// The listener of a page: Echo connects to Reverb, Laravel authorizes at /broadcasting/auth.
import Echo from 'laravel-echo';
import Pusher from 'pusher-js';
import { pusherChannel, toChannelName } from 'stepline/pusher';
import type { LiveAgentView } from 'stepline/ui';
import { createAgentView } from 'stepline/ui';

/** Settings that your page has from Vite: `import.meta.env.VITE_REVERB_APP_KEY` and so on. */
export interface ReverbSettings {
  readonly key: string;
  readonly host: string;
  readonly port: number;
}

/** Connects to Reverb. */
export const connect = ({ key, host, port }: ReverbSettings): Echo<'reverb'> =>
  new Echo({ broadcaster: 'reverb', Pusher, key, wsHost: host, wsPort: port, wssPort: port, enabledTransports: ['ws', 'wss'] });

/** Opens a view of a session that stays up to date: over Reverb, and over HTTP for what Reverb does not have. */
export const openView = (echo: Echo<'reverb'>, sessionId: string, getToken: () => Promise<string>): LiveAgentView =>
  createAgentView({ url: '/agents', sessionId, getToken, channel: pusherChannel(echo) });

/** Listens without a view: every envelope as it comes, those that were lost not included. */
export function listen(echo: Echo<'reverb'>, sessionId: string, onMessage: (text: string) => void): void {
  const channel = toChannelName(sessionId).slice('private-'.length);
  // The dot tells Echo that the name is complete.
  echo.private(channel).listen('.agent.message', ({ data }: { readonly data: { readonly text?: string } }) => onMessage(data.text ?? ''));
}
