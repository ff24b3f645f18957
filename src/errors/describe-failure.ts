// A failure in words: `tool export, disk quota exceeded ← pool exhausted`.
import { toShownText } from '../lib/index.ts';
import type { ErrorType } from './error-type.ts';
import type { Failure } from './failure.ts';

const sources: Readonly<Record<ErrorType, string>> = {
  tool: 'tool',
  model: 'model',
  validation: 'validation',
  rate_limit: 'rate limit',
  timeout: 'time-out',
  unknown: '',
};

/** Names the source of a failure: `tool export`, `rate limit`; empty if it is not known. */
function describeFailureSource({ type, toolName }: Pick<Failure, 'type' | 'toolName'>): string {
  if (toolName === undefined) return sources[type];
  const tool = `tool ${toShownText(toolName)}`;
  return type === 'tool' || type === 'unknown' ? tool : `${tool}, ${sources[type]}`;
}

/** Writes the message of a failure and its causes: `charge failed ← pool exhausted ← connect ECONNREFUSED`. */
export const describeCauses = ({ message, causes = [] }: Pick<Failure, 'message' | 'causes'>): string =>
  [message, ...causes].map(toShownText).join(' ← ');

/** Describes a failure: its source, its message and its causes. */
export function describeFailure(failure: Failure): string {
  const code = failure.code === 'unclassified' ? '' : ` (${toShownText(failure.code)})`;
  const source = describeFailureSource(failure);
  return `${source === '' ? '' : `${source}, `}${describeCauses(failure)}${code}`;
}
