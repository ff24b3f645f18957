// One line per event: who, which step, and what happened.
// W1. A line is one line: control characters are shown as escapes, foreign text is redacted and cut.
import type { Redactor } from '../../lib/index.ts';
import { defaultRedactor, toLine } from '../../lib/index.ts';
import { EventFields } from './event-fields.ts';

/** Describes events by their type. */
export type Describers = Readonly<Record<string, (event: EventFields) => string>>;

/** Fields that every event has, or that its line starts with. */
const headerNames = new Set([
  ...['type', 'id', 'seq', 'at', 'agentId', 'agentName', 'parentAgentId', 'executionId', 'stepNumber'],
  ...['orchestrator', 'sessionId', 'participant'],
]);

/** Describes an event whose type is unknown by the fields that only it has. */
const describeUnknown = (event: EventFields): string =>
  [event.text('type'), ...event.names.filter((name) => !headerNames.has(name)).map((name) => `${toLine(name)}=${event.json(name)}`)].join(
    ' ',
  );

/** Describes an event, or the data of one, in the words for its type. */
export function describeWith(words: Describers, event: object, redactor: Redactor): string {
  const fields = new EventFields(event, redactor);
  const type = fields.text('type');
  const describe = Object.hasOwn(words, type) ? words[type] : undefined;
  return (describe ?? describeUnknown)(fields);
}

/** Longest id that a line shows as it is. */
const longestId = 12;

// The end of an id says more than its start: ids made at the same time, counted or nested in one another start alike.
const shortenId = (id: string): string => (id.length <= longestId ? id : id.slice(-8).replace(/^[^/]*\/(?=.{4})/, ''));

/** The name of an agent that has none. */
const unnamed = 'agent';

/** Writes an event as one line: agent, step, and the given description. */
export function formatLine(event: object, description: string, redactor: Redactor = defaultRedactor): string {
  const fields = new EventFields(event, redactor);
  const [name, participant, step] = [fields.text('agentName'), fields.text('participant'), fields.number('stepNumber')];
  const isNamed = name !== '' && name !== unnamed;
  // The run inside a turn has no name of its own: it is that of its participant.
  const shown = !isNamed && fields.has('parentAgentId') ? participant : isNamed ? name : '';
  const who = shown === '' ? 'Agent' : `Agent ${shown}`;
  const turn = participant === '' || participant === shown ? '' : ` (${participant})`;
  return `${who} [${shortenId(fields.text('agentId'))}]${step === 0 ? '' : ` step ${step}`}${turn}: ${toLine(redactor.text(description))}`;
}
