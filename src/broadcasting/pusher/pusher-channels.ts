import type { JsonObject } from '../../lib/index.ts';
import { checkKeys, hmacSha256 } from '../../lib/index.ts';
import { fromChannelName } from './channel-name.ts';
import type { PusherKeys } from './pusher-app.ts';
import { parseKeys } from './pusher-app.ts';

/** Signs that a page may listen to a channel. Pass it to createSessionHandler() as `channels`. */
export interface PusherChannels {
  /** Returns the session of a channel; undefined if it is not the channel of one. */
  findSession(channel: string): string | undefined;
  /** Returns the answer for a page, whose connection has the id `socketId`. Whoever asks for it must have been authorized. */
  sign(request: { readonly socketId: string; readonly channel: string }): Promise<JsonObject>;
}

/** Creates what the route `POST /channels/auth` of createSessionHandler() needs to let pages listen to private channels. */
export function createPusherChannels(keys: PusherKeys): PusherChannels {
  checkKeys('createPusherChannels()', keys, ['key', 'secret']);
  const { key, secret } = parseKeys(keys, 'createPusherChannels()');
  return {
    findSession: fromChannelName,
    sign: ({ socketId, channel }) => Promise.resolve({ auth: `${key}:${hmacSha256(secret, `${socketId}:${channel}`)}` }),
  };
}
