// How the offline script words what the tools gave it.
import type { Json, ToolResult } from 'stepline';
import type { Found } from './partners.ts';

type Fields = Readonly<Record<string, Json>>;

const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

// Where a person changed the arguments, the result says so before anything else.
const withoutNote = (text: string): string => text.replace(/^A person changed the arguments to .*\n/, '');

function parseJson(text: string): Json | undefined {
  try {
    // Holds: what JSON.parse gives is JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function readFields({ output }: ToolResult): Fields {
  if (output.type !== 'json' && output.type !== 'text') return {};
  const value = output.type === 'json' ? output.value : parseJson(withoutNote(output.value));
  return isFields(value) ? value : {};
}

/** The companies of a search; none if it was something else. */
export function foundIn(result: ToolResult): readonly Found[] {
  const { found } = readFields(result);
  // Holds: nobody else answers under that name.
  return result.toolName === 'search_entities' && Array.isArray(found) ? (found as readonly Found[]) : [];
}

/** True for a call that a dying process took with it before it did anything. */
export const wasLost = ({ output }: ToolResult): boolean =>
  output.type === 'error' && withoutNote(output.value).startsWith('The call was interrupted before it took effect');

export const isFailed = ({ output }: ToolResult): boolean => output.type === 'error';

function companyText({ name, city, field, leads }: Found): string {
  const lead = leads.map((one) => `lead ${one.lead} in ${one.program}`).join(', ');
  return `  - ${name}, ${city} (${field})${lead === '' ? '' : `: ${lead}`}`;
}

function searchText(found: readonly Found[]): string {
  if (found.length === 0) return 'I found no partner by that name or city.';
  const count = found.length === 1 ? 'one partner' : `${found.length} partners`;
  return `I found ${count}:\n${found.map(companyText).join('\n')}`;
}

function describePartner({ name, city, field, leads: [lead] }: Found): string {
  const next =
    lead === undefined
      ? 'It is in none of our programs yet. A short call about the Startup program would be a good first step, and costs nobody more than half an hour.'
      : `It is lead ${lead.lead} in the program ${lead.program}. Ask how the program is going, what is missing, and who looks after it on their side.`;
  return `${name} is in ${city} and works on ${field}. ${next}`;
}

/** A longer text about the companies of a search. */
export function toReport(found: readonly Found[]): string {
  const [first] = found;
  if (first === undefined) return 'I found no partner by that name or city, so there is nothing to report.';
  const count = found.length === 1 ? 'one partner' : `${found.length} partners`;
  return [
    `There ${found.length === 1 ? 'is' : 'are'} ${count} to report on.`,
    ...found.map(describePartner),
    `I would begin with ${first.name} this week, and look at the whole list again in a month. This is all that the directory knows; for contracts and numbers, ask the people who look after these partners.`,
  ].join('\n\n');
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '(unknown)';
}

/** One result in words. */
export function inWords(result: ToolResult): string {
  const { output } = result;
  if (output.type === 'rejected')
    return output.reason === '' ? 'I left it as it is, as you said.' : `I left it as it is: ${output.reason.replace(/\.$/, '')}.`;
  if (output.type === 'error') return `That did not work: ${withoutNote(output.value).replace(/^"[\w-]+" failed: /, '')}`;
  const { created, deleted } = readFields(result);
  if (isFields(created))
    return `Done: ${text(created, 'company')} is lead ${text(created, 'lead')} in the program ${text(created, 'program')}.`;
  if (isFields(deleted))
    return `Done: lead ${text(deleted, 'lead')} of ${text(deleted, 'company')} in ${text(deleted, 'program')} is deleted.`;
  return searchText(foundIn(result));
}
