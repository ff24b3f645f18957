// Lines of the events that a run does not emit by itself: about people, participants and sessions.
import { pluralize, toLine } from '../../lib/index.ts';
import type { EventFields } from './event-fields.ts';
import type { Describers } from './event-line.ts';
import { after, describeAuthor, describeLimit, describeTime } from './phrases.ts';

/** Start of the id of a wait for a grant. */
const grantId = 'grant/';

/** Names what was waited for: a call, more of a limit, the provider, or a person. */
function describeTarget(event: EventFields): string {
  const id = event.text('waitId');
  if (event.has('toolName')) return `${event.text('toolName')} (${id})`;
  if (id.startsWith(grantId)) return `more ${describeLimit(id.slice(grantId.length))}`;
  return id === 'provider' ? 'the provider' : id;
}

function describeUse(event: EventFields): string {
  if (!event.has('approval')) return '';
  const approval = event.inner('approval');
  const [use, maxUses] = [approval.number('use'), approval.number('maxUses')];
  return use === 1 ? ` for the rest of the session (at most ${maxUses} calls)` : `, by an earlier approval (use ${use} of ${maxUses})`;
}

function describeResolved(event: EventFields): string {
  const [author, what, decision] = [describeAuthor(event), describeTarget(event), event.text('decision')];
  const edited = event.has('edited') ? ' with other arguments' : '';
  const why = after(': ', event.text('reason'));
  switch (decision) {
    case 'superseded':
      return `a message of ${author} replaced the wait for ${what}`;
    case 'expired':
      return `nobody answered ${what} in time${why}`;
    case 'granted':
      return `${author} granted more, the wait for ${what} is over`;
    case 'resumed':
      return `${author} resumed the session, the wait for ${what} is over`;
    case 'cancelled':
      return `${author} cancelled the wait for ${what}${why}`;
    case 'rejected':
      return event.text('waitId').startsWith(grantId) ? `${author} refused to grant ${what}${why}` : `${author} rejected ${what}${why}`;
    default:
      return `${author} ${decision} ${what}${edited}${why}${describeUse(event)}`;
  }
}

function describeTurn(event: EventFields): string {
  if (event.has('resumed')) return 'continues its turn';
  return `has the turn (chosen by ${event.text('selectedBy')})${after(': ', event.text('reason'))}${after('; ', event.text('problem'))}`;
}

const describeChange = (change: EventFields): string =>
  `${change.text('type') === 'write' ? 'wrote' : 'approved'} ${change.text('artifact')} (version ${change.number('version')})`;

/** Describes one amount of a grant: `3 more steps`, `60 s more active time`. */
function describeAmount(name: string, amount: number): string {
  switch (name) {
    case 'steps':
    case 'tokens':
      return `${amount} more ${amount === 1 ? name.slice(0, -1) : name}`;
    case 'wallMs':
    case 'activeMs':
      return `${describeTime(amount)} more ${describeLimit(name.slice(0, -2))}`;
    default:
      return `${amount} more ${name === 'costUsd' ? 'US dollars' : name}`;
  }
}

function describeGrant(event: EventFields): string {
  const amounts = event.inner('amounts');
  return amounts.names.map((name) => describeAmount(toLine(name), amounts.number(name))).join(' and ');
}

export const peopleWords: Describers = {
  ParticipantSelected: describeTurn,
  PersonAsked: (event) => {
    const problem = after('; the last answer could not be used: ', event.text('problem'));
    return `is asked for an answer (${event.text('waitId')})${after(': ', event.text('prompt'))}${problem}`;
  },
  BoardUpdated: (event) => event.list('changes').map(describeChange).join(', '),
  UserMessageReceived: (event) => `${describeAuthor(event)} wrote ${event.json('text')}`,
  WaitResolved: describeResolved,
  LimitsGranted: (event) => `${describeAuthor(event)} granted ${describeGrant(event)}`,
  ApprovalRevoked: (event) => `${describeAuthor(event)} revoked the approval ${event.text('approvalId')}`,
  CrashLoopDetected: (event) => {
    const attempts = event.number('attempts');
    const times = attempts === 0 ? 'in this step' : `each of the ${pluralize(attempts, 'time')} that this step was resumed`;
    return `the process ended ${times}; waits for somebody to resume or cancel the session (${event.text('waitId')})`;
  },
  CancelRequested: (event) => `${describeAuthor(event)} cancelled${after(': ', event.text('reason'))}`,
};
