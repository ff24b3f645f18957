// Lines of the events about people and participants.
import type { EventFields } from './event-fields.ts';
import { after, describeAuthor, describeLimit } from './phrases.ts';

type Describers = Readonly<Record<string, (event: EventFields) => string>>;

function describeUse(event: EventFields): string {
  if (!event.has('approval')) return '';
  const approval = event.inner('approval');
  const [use, maxUses] = [approval.number('use'), approval.number('maxUses')];
  return use === 1 ? ` for the rest of the session (at most ${maxUses} calls)` : `, by an earlier approval (use ${use} of ${maxUses})`;
}

function describeResolved(event: EventFields): string {
  const [author, id, decision] = [describeAuthor(event), event.text('waitId'), event.text('decision')];
  const what = event.has('toolName') ? `${event.text('toolName')} (${id})` : id;
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

function describeGrant(event: EventFields): string {
  const amounts = event.inner('amounts');
  return amounts.names.map((name) => `${amounts.json(name)} ${describeLimit(name)}`).join(', ');
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
  LimitsGranted: (event) => `${describeAuthor(event)} granted ${describeGrant(event)} more`,
  ApprovalRevoked: (event) => `${describeAuthor(event)} revoked the approval ${event.text('approvalId')}`,
  CancelRequested: (event) => `${describeAuthor(event)} cancelled${after(': ', event.text('reason'))}`,
};
