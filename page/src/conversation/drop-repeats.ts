// What is said twice is shown once.
import type { ViewMessage } from 'stepline/ui';

const isStop = (message: ViewMessage): boolean =>
  message.role === 'status' && message.status_type === 'continuation' && message.continuation?.stop_reason === 'user_requested';

const isRequest = (message: ViewMessage): boolean =>
  message.role === 'status' && message.by !== undefined && message.text.includes(`${message.by.id} cancelled`);

/** Leaves out that somebody asked to stop, once the run says that it was stopped and by whom. Returns the same list if nothing is left out. */
export function dropRepeats(messages: readonly ViewMessage[]): readonly ViewMessage[] {
  const repeated = new Set<ViewMessage>();
  let asked: ViewMessage[] = [];
  for (const message of messages) {
    if (isRequest(message)) asked.push(message);
    if (isStop(message)) for (const request of asked) repeated.add(request);
    // The words of a step stand behind what was asked while it was written.
    if (isStop(message) || message.role === 'user') asked = [];
  }
  return repeated.size === 0 ? messages : messages.filter((message) => !repeated.has(message));
}
