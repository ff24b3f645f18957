import { clipText } from './clip-text.ts';

/** One thing that does not fit a schema. An empty path means the whole value. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/** Result of parsing a value by a schema. */
export type Parsed<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

const mostShown = 8;
const longestIssue = 300;

function issueText({ path, message }: SchemaIssue): string {
  return clipText(path === '' ? message : `${path}: ${message}`, longestIssue);
}

/** Joins the issues in one line that a model can act on. */
export function issuesText(issues: readonly SchemaIssue[]): string {
  if (issues.length === 0) return 'the schema does not say why';
  const shown = issues.slice(0, mostShown).map(issueText).join('; ');
  const left = issues.length - mostShown;
  return left > 0 ? `${shown}; and ${left} more` : shown;
}
