// A failure in words: `tool export, disk quota exceeded ← pool exhausted`.
import { toShownText } from '../lib/index.ts';
import type { ErrorType } from './error-type.ts';
import type { Failure } from './failure.ts';

const sources: Readonly<Record<ErrorType, string>> = {
  tool: 'tool',
  model: 'model',
  // Messages about these say it themselves.
  validation: '',
  timeout: '',
  rate_limit: 'rate limit',
  unknown: '',
};

/** Names the source of a failure: `tool export`, `rate limit`; empty if it is not known. */
function describeFailureSource({ type, toolName, message }: Pick<Failure, 'type' | 'toolName' | 'message'>): string {
  const source = sources[type];
  // A whole sentence about the model or its answer needs nothing in front.
  if (toolName === undefined) return type === 'model' && message.startsWith('The ') ? '' : source;
  // A message that names the tool does not need it in front.
  if (message.includes(`"${toolName}"`)) return '';
  const tool = `tool ${toShownText(toolName)}`;
  return type === 'tool' || source === '' ? tool : `${tool}, ${source}`;
}

/** Adds a code in parentheses: after the end of several sentences, and without a second pair of parentheses. */
function addCode(text: string, code: string): string {
  if (text.endsWith(')')) return `${text.slice(0, -1)}; ${code})`;
  return /[.!?] /.test(text) && !text.endsWith('…') ? `${text}. (${code})` : `${text} (${code})`;
}

/** Writes the message of a failure and its causes: `charge failed ← pool exhausted ← connect ECONNREFUSED`. */
export const describeCauses = ({ message, causes = [] }: Pick<Failure, 'message' | 'causes'>): string =>
  [message, ...causes].map(toShownText).join(' ← ');

/** Describes a failure: its source, its message and its causes. */
export function describeFailure(failure: Failure): string {
  const source = describeFailureSource(failure);
  const causes = describeCauses(failure);
  const text = source === '' ? causes : `${source}, ${causes}`;
  return failure.code === 'unclassified' ? text : addCode(text, toShownText(failure.code));
}
