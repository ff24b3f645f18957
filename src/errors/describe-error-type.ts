import type { ValueDescription } from '../lib/index.ts';
import { ErrorType } from './error-type.ts';

const descriptions: Readonly<Record<ErrorType, ValueDescription>> = {
  tool: { label: 'Tool error', sentence: 'A tool call failed.' },
  model: { label: 'Model error', sentence: 'The model call failed.' },
  validation: { label: 'Invalid answer', sentence: 'An answer or a call did not have the form that was asked for.' },
  rate_limit: { label: 'Rate limit', sentence: 'The provider asked to slow down.' },
  timeout: { label: 'Time-out', sentence: 'Something took longer than its time limit.' },
  unknown: { label: 'Error', sentence: 'Something failed that has no kind of its own.' },
};

/** Describes a kind of failure for a page. A value that this version does not know gets the description of `unknown`. */
export const describeErrorType = (type: ErrorType): ValueDescription =>
  Object.hasOwn(descriptions, type) ? descriptions[type] : descriptions[ErrorType.Unknown];
