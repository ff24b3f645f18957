// Waits, for people.
import { assertNever, omitUndefined } from '../../lib/index.ts';
import type { Redactor } from '../../lib/index.ts';
import type { Session, SessionWait } from '../../sessions/index.ts';
import { toExactTime } from '../render/time.ts';

/** Names a wait in a few words. */
export function describeWait(wait: SessionWait): string {
  const who = wait.agent === undefined ? '' : ` for ${wait.agent}`;
  switch (wait.type) {
    case 'approval':
      return `approval of ${wait.toolName}${who}`;
    case 'client-tool':
      return `output of ${wait.toolName}${who}`;
    case 'unknown-call':
      return `true result of ${wait.toolName}${who}, which was cut off`;
    case 'person':
      if (wait.reason === 'crash-loop') return `a person: the step ended the process each time, resumed ${wait.attempts} times`;
      return `words of ${wait.participant ?? 'a person'}${who}`;
    case 'provider':
      return `the provider: ${wait.reason}; next try at ${toExactTime(wait.nextTryAt)}`;
    case 'grant':
      return `a grant of ${wait.limit}`;
    default:
      return assertNever(wait);
  }
}

/** Returns the time at which a wait began. */
export function getWaitStart({ state, updatedAt }: Session, wait: SessionWait): number {
  if ('since' in wait) return wait.since;
  const { pendingStep } = state;
  return pendingStep?.askedEarlier?.[wait.id] ?? pendingStep?.parkedAt ?? updatedAt;
}

/** Returns the arguments or the question of a wait, as they may be shown. */
export function getAsked(wait: SessionWait, redactor: Redactor): { readonly args?: unknown; readonly prompt?: string } {
  if ('args' in wait) return { args: redactor.value(wait.args) };
  return wait.type === 'person' ? omitUndefined({ prompt: wait.prompt === undefined ? undefined : redactor.text(wait.prompt) }) : {};
}

const grantOptions = { steps: 'steps', tokens: 'tokens', wall: 'wall-ms', active: 'active-ms', cost: 'cost-usd' } as const;

/** Writes the command that answers a wait. */
export function toAnswerCommand(wait: SessionWait): string {
  const { sessionId, id, digest } = wait;
  const quote = (text: string): string => (/^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const target = `${quote(sessionId)} ${quote(id)}`;
  switch (wait.type) {
    case 'approval':
      return `stepline approve ${target} --digest ${digest}`;
    case 'person':
      if (wait.reason === 'crash-loop') return `stepline resume ${quote(sessionId)}`;
      return `stepline answer ${target} --value <json>`;
    case 'client-tool':
    case 'unknown-call':
      return `stepline answer ${target} --value <json>`;
    case 'grant':
      return `stepline grant ${quote(sessionId)} --${grantOptions[wait.limit]} <n>`;
    case 'provider':
      return `stepline resume ${quote(sessionId)}`;
    default:
      return assertNever(wait);
  }
}
