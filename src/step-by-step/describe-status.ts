import type { ValueDescription } from '../lib/index.ts';
import { ExecutionStatus } from './execution.ts';

const descriptions: Readonly<Record<ExecutionStatus, ValueDescription>> = {
  pending: { label: 'Not started', sentence: 'No run has started since the last input.' },
  in_progress: { label: 'In progress', sentence: 'The run has started and has not ended.' },
  waiting: { label: 'Waiting', sentence: 'Somebody has to act before the run can continue.' },
  completed: { label: 'Completed', sentence: 'The run completed by itself.' },
  stopped: { label: 'Stopped', sentence: 'A limit, a rule, a finish reason or a person ended the run.' },
  failed: { label: 'Failed', sentence: 'A failure ended the run.' },
};

/** Describes a status for a page. A value that this version does not know gets the description of `in_progress`. */
export const describeStatus = (status: ExecutionStatus): ValueDescription =>
  Object.hasOwn(descriptions, status) ? descriptions[status] : descriptions[ExecutionStatus.InProgress];
