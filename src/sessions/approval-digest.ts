import type { Json } from '../lib/index.ts';
import { stableStringify } from '../lib/index.ts';
import type { Wait } from '../step-by-step/index.ts';

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Binds an answer to what was shown: the session, the call, and its arguments as they are. */
export async function approvalDigest(
  sessionId: string,
  wait: Pick<Wait, 'id'> & { readonly toolName?: string; readonly args?: Json },
): Promise<string> {
  const { id, toolName = null, args = null } = wait;
  const text = stableStringify({ sessionId, id, toolName, args });
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}
