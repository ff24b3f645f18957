// The sentences that the offline script understands.

export type Wish =
  | { readonly type: 'search'; readonly query: string }
  | { readonly type: 'create'; readonly company: string; readonly program: string }
  | { readonly type: 'delete'; readonly lead: number }
  | { readonly type: 'delete-of'; readonly company: string }
  | { readonly type: 'report'; readonly query: string }
  | { readonly type: 'help' }
  | { readonly type: 'unknown' };

/** One of each kind, for people to try. */
export const examples: readonly string[] = [
  'Find Acme',
  'Who is in Berlin?',
  'Create a lead for Nordwind in program Growth',
  'Delete lead 2',
  'Delete the lead of Vela',
  'Write a report on Berlin',
  'Help',
];

const create = /\b(?:create|add|make|open)\b.*?\blead\b\s+for\s+(?<company>.+?)\s+(?:in|into|to|on|under)\s+(?<program>.+)$/i;
const remove = /\b(?:delete|remove|drop)\b.*?\blead\b\s*(?:number|no\.?|nr\.?|#)?\s*(?<lead>\d{1,9})\b/i;
const removeOf = /\b(?:delete|remove|drop)\b.*?\blead\b\s+(?:of|for)\s+(?<company>.+)$/i;
const report = /\breport\b\s+(?:on|about|for)\s+(?<query>.+)$/i;
const help = /^(?:\?$|(?:help|hello|hi|hey|what can you do)\b)/i;
const search = [
  /\b(?:who|which\b.*|what\b.*|companies|partners|anyone|anybody)\s+(?:is|are|do we have|do we know)?\s*(?:there\s+)?in\s+(?<query>.+)$/i,
  /\b(?:search|find|look\s+(?:for|up)|where\s+is|show(?:\s+me)?|do\s+we\s+know)\s+(?:for\s+|about\s+)?(?<query>.+)$/i,
];
const fillers = /^(?:(?:the|a|an|our|all|any|companies|company|partners?|called|named|in|from)\s+)+/i;

const withoutEnd = (text: string): string => text.trim().replace(/[\s.!?]+$/, '');
const removeQuotes = (text: string): string => withoutEnd(text).replaceAll(/["“”„«»]/g, '');
const programName = (text: string): string =>
  removeQuotes(text)
    .replaceAll(/\b(?:the|our|program(?:me)?)\b\s*/gi, '')
    .trim();

/** A request, as far as the script understands it. */
export function readSentence(said: string): Wish {
  const sentence = said.trim() === '?' ? '?' : withoutEnd(said.replaceAll(/\s+/g, ' '));
  const creates = create.exec(sentence)?.groups;
  if (creates !== undefined)
    return { type: 'create', company: removeQuotes(creates['company'] ?? ''), program: programName(creates['program'] ?? '') };
  const lead = remove.exec(sentence)?.groups?.['lead'];
  if (lead !== undefined) return { type: 'delete', lead: Number(lead) };
  const company = removeOf.exec(sentence)?.groups?.['company'];
  if (company !== undefined) return { type: 'delete-of', company: removeQuotes(company) };
  const subject = report.exec(sentence)?.groups?.['query'];
  if (subject !== undefined) return { type: 'report', query: removeQuotes(subject).replace(fillers, '') };
  if (help.test(sentence)) return { type: 'help' };
  const query = search.map((pattern) => pattern.exec(sentence)?.groups?.['query']).find((found) => found !== undefined);
  const words = query === undefined ? '' : removeQuotes(query).replace(fillers, '');
  return words === '' ? { type: 'unknown' } : { type: 'search', query: words };
}
