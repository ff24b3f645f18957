// Events in words: one line per event, the same for an event that was just emitted and one that was stored.
// Owns:     the text of every event that this package emits.
// Does not: hold events, or need their classes.
// W1. A line is one line: control characters are shown as escapes, foreign text is redacted and cut.
import type { Redactor } from '../../lib/index.ts';
import { defaultRedactor, toLine } from '../../lib/index.ts';
import { EventFields } from './event-fields.ts';
import { loopWords } from './loop.ts';
import { peopleWords } from './people.ts';
import { workWords } from './work.ts';

const words = new Map([...Object.entries(loopWords), ...Object.entries(workWords), ...Object.entries(peopleWords)]);

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

/** Describes an event, or the data of one, in a few words and without its header. */
export function describeEvent(event: object, redactor: Redactor = defaultRedactor): string {
  const fields = new EventFields(event, redactor);
  return (words.get(fields.text('type')) ?? describeUnknown)(fields);
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

/** Options of a line. */
export interface EventLineOptions {
  /** Removes secrets. @default the one that knows the obvious secrets */
  readonly redactor?: Redactor;
}

/** Writes an event that was stored as the line that the event itself had. */
export const formatEvent = (event: object, { redactor = defaultRedactor }: EventLineOptions = {}): string =>
  formatLine(event, describeEvent(event, redactor), redactor);
