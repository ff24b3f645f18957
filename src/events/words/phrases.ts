// Parts of the lines of events.
import { cutLine, pluralize } from '../../lib/index.ts';
import type { EventFields } from './event-fields.ts';

/** `120 ms`, `2 s`, `2.5 s`. */
export const describeTime = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toFixed(ms < 60_000 ? 1 : 0))} s`;

/** Writes a time as ISO text; a time that no date can hold, as it is. */
export const describeInstant = (at: number): string => (Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at));

export const describeUsage = (usage: EventFields): string =>
  `${pluralize(usage.number('total'), 'token')} (${usage.number('input')} in, ${usage.number('output')} out)`;

/** The text after a colon; nothing if there is none. */
export const after = (mark: string, text: string): string => (text === '' ? '' : `${mark}${text}`);

/** Describes the person or program that did something: `user ann`. */
export const describeAuthor = (event: EventFields): string => {
  const by = event.inner('by');
  return `${by.text('kind')} ${by.text('id')}`;
};

/** Describes a failure and its causes: `charge failed ← pool exhausted ← connect ECONNREFUSED`. */
export function describeCauses(failure: EventFields): string {
  const causes = failure.texts('causes').join(' ← ');
  return `${failure.text('message')}${causes === '' ? '' : ` ← ${cutLine(causes)}`}`;
}

/** Describes a failure with the tool that failed, unless its message names it, and its causes. */
export function describeFailure(failure: EventFields): string {
  const tool = failure.text('toolName');
  const isNamed = tool === '' || failure.text('message').includes(`"${tool}"`);
  return `${isNamed ? '' : `${tool}: `}${describeCauses(failure)}`;
}

const limitNames: Readonly<Record<string, string>> = {
  steps: 'steps',
  tokens: 'tokens',
  wall: 'run time',
  active: 'active time',
  cost: 'money',
};

/** Names a limit that may be raised. */
export const describeLimit = (limit: string): string => limitNames[limit] ?? limit;

const purposes: Readonly<Record<string, string>> = {
  approval: 'approval of',
  'client-tool': 'the output of',
  'unknown-call': 'the true result of',
};

function describePersonWait(wait: EventFields): string {
  if (wait.text('reason') === 'crash-loop') return 'somebody to resume or cancel the session';
  const who = wait.has('participant') ? wait.text('participant') : 'a person';
  return `an answer from ${who}${after(': ', wait.text('prompt'))}`;
}

/** Describes something that a run waits for: for whom, for what. */
export function describeWait(wait: EventFields): string {
  const [type, id] = [wait.text('type'), wait.text('id')];
  const asker = wait.has('agent') ? `, asked by ${wait.text('agent')}` : '';
  const problem = after('; the last answer could not be used: ', wait.text('problem'));
  switch (type) {
    case 'person':
      return `${describePersonWait(wait)} (${id}${asker})${problem}`;
    case 'provider':
      return `the provider, next try at ${describeInstant(wait.number('nextTryAt'))}, last try at ${describeInstant(wait.number('giveUpAt'))}${after(': ', wait.text('reason'))}`;
    case 'grant':
      return `more ${describeLimit(wait.text('limit'))}${asker}${problem}`;
    default:
      return `${purposes[type] ?? type} ${wait.text('toolName')} (${id}${asker})${problem}`;
  }
}
