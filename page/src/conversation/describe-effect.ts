// What a message does while the session waits for something else.
import type { ViewWait } from 'stepline/ui';

const callTypes: ReadonlySet<string> = new Set(['approval', 'client-tool', 'unknown-call']);

type ShownWait = Pick<ViewWait, 'type' | 'reason'>;

/** Says why the session takes no message now, and what to do first; undefined if it takes one. */
export function describeRefusal(waits: readonly ShownWait[]): string | undefined {
  if (waits.some(({ type }) => type === 'grant')) return 'Grant more, or end here, before you send another message.';
  if (waits.some(({ type, reason }) => type === 'person' && reason === 'crash-loop'))
    return 'Try the step again, or end here, before you send another message.';
  return undefined;
}

/** Says what a message does to the waits; undefined if nothing that may surprise. */
export function describeEffect(waits: readonly ShownWait[]): string | undefined {
  const calls = waits.filter(({ type }) => callTypes.has(type)).length;
  if (calls === 0) return undefined;
  return calls === 1
    ? 'A message gives up the waiting call. Decide above to keep it.'
    : `A message gives up the ${calls} waiting calls. Decide above to keep them.`;
}
