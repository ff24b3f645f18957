// What a message does while the session waits for something else.
import type { ViewWait } from 'stepline/ui';

const callTypes: ReadonlySet<string> = new Set(['approval', 'client-tool', 'unknown-call']);

/** Says what a message does to the waits; undefined if nothing that may surprise. */
export function describeEffect(waits: readonly Pick<ViewWait, 'type'>[]): string | undefined {
  if (waits.some(({ type }) => type === 'grant')) return 'Grant more, or end here, before you send another message.';
  const calls = waits.filter(({ type }) => callTypes.has(type)).length;
  if (calls === 0) return undefined;
  return calls === 1
    ? 'A message gives up the waiting call. Decide above to keep it.'
    : `A message gives up the ${calls} waiting calls. Decide above to keep them.`;
}
