import type { Json } from '../lib/index.ts';
import { stableStringify } from '../lib/index.ts';
import type { Wait } from '../step-by-step/index.ts';

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The same for the same value, and for no other. */
export async function digestOf(value: Json): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(stableStringify(value)))));
}

/** Binds an answer to what was shown: the session, the call, and its arguments as they are. */
export async function approvalDigest(
  sessionId: string,
  { id, toolName = null, args = null }: Pick<Wait, 'id'> & { readonly toolName?: string | null; readonly args?: Json },
): Promise<string> {
  return digestOf({ sessionId, id, toolName, args });
}
