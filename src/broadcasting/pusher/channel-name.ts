// Names of channels.
// N1. A session has one channel, and a channel one session: names can be read back.
// N2. A name has only characters that every server of the protocol takes, and no dot after the prefix: Laravel ends a placeholder there.

/** Beginning of the channels of sessions. Laravel's rules leave `private-` out. */
const prefix = 'private-agent.';

/** Longest name that every server takes. */
const longestName = 164;

const encoder = new TextEncoder();
const escape = (character: string): string =>
  Array.from(encoder.encode(character), (byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** Returns the private channel of a session: `private-agent.` and its id, with other characters than letters, digits, `_` and `-` as `=2E`. */
export const toChannelName = (sessionId: string): string => `${prefix}${sessionId.replaceAll(/[^\w-]/gu, escape)}`;

/** Returns the session of a channel; undefined if it is not the channel of one. */
export function fromChannelName(name: string): string | undefined {
  if (!name.startsWith(prefix) || !isUsableName(name)) return undefined;
  try {
    const id = decodeURIComponent(name.slice(prefix.length).replaceAll('=', '%'));
    return id !== '' && toChannelName(id) === name ? id : undefined;
  } catch {
    return undefined;
  }
}

/** True if servers take the name. */
export const isUsableName = (name: string): boolean => name.length <= longestName && /^[\w\-=@,.;]+$/.test(name);
