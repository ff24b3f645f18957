// How the offline script words what the tools gave it.
import type { Json, ToolResult } from 'stepline';
import type { Found } from './partners.ts';

type Fields = Readonly<Record<string, Json>>;

const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldsOf = ({ output }: ToolResult): Fields => (output.type === 'json' && isFields(output.value) ? output.value : {});

/** The companies of a search; none where it was something else. */
export function foundIn(result: ToolResult): readonly Found[] {
  const { found } = fieldsOf(result);
  // Holds: nobody else answers under that name.
  return result.toolName === 'search_entities' && Array.isArray(found) ? (found as readonly Found[]) : [];
}

export const failed = ({ output }: ToolResult): boolean => output.type === 'error';

function companyText({ name, city, field, leads }: Found): string {
  const lead = leads.map((one) => `lead ${one.lead} in ${one.program}`).join(', ');
  return `  - ${name}, ${city} (${field})${lead === '' ? '' : `: ${lead}`}`;
}

function searchText(found: readonly Found[]): string {
  if (found.length === 0) return 'I found no partner by that name or city.';
  const count = found.length === 1 ? 'one partner' : `${found.length} partners`;
  return `I found ${count}:\n${found.map(companyText).join('\n')}`;
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '(unknown)';
}

/** One result in words. */
export function inWords(result: ToolResult): string {
  const { output } = result;
  if (output.type === 'rejected')
    return output.reason === '' ? 'I left it as it is, as you said.' : `I left it as it is: ${output.reason}.`;
  if (output.type === 'error') return `That did not work: ${output.value.replace(/^"[\w-]+" failed: /, '')}`;
  const { created, deleted } = fieldsOf(result);
  if (isFields(created))
    return `Done: ${text(created, 'company')} is lead ${text(created, 'lead')} in the program ${text(created, 'program')}.`;
  if (isFields(deleted))
    return `Done: lead ${text(deleted, 'lead')} of ${text(deleted, 'company')} in ${text(deleted, 'program')} is deleted.`;
  return searchText(foundIn(result));
}
