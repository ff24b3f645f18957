// What a session waits for, as interrupts.
// I1. The id of an interrupt has the digest of what is waited for, so that an answer counts for exactly what was shown.
// I2. A limit may be reached again in the same execution: such an id also has the number of steps.
import type { Json, JsonObject } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { SessionWait } from '../../sessions/index.ts';
import type { AgUiInterrupt } from './ag-ui-event.ts';
import type { AskedCall } from './run-events.ts';

/** A wait as it is shown: the arguments without their secrets. */
export interface ShownWait {
  readonly wait: SessionWait;
  /** Number of steps that the session has recorded. */
  readonly stepCount: number;
  readonly args?: Json;
  /** Paths of arguments that are not shown. */
  readonly hiddenFields: readonly string[];
  /** Call that it is about, if the reader knows it. */
  readonly call?: AskedCall | undefined;
}

/** An interrupt that is answered. */
export interface InterruptRef {
  readonly waitId: string;
  readonly digest: string;
}

/** Returns the id of an interrupt. `stepCount` is the number of steps that the session has recorded. */
export function toInterruptId({ id, digest, type }: Pick<SessionWait, 'id' | 'digest' | 'type'>, stepCount: number): string {
  if (digest === '') return id;
  return ['approval', 'client-tool', 'unknown-call'].includes(type) ? `${id}:${digest}` : `${id}:${digest}:${stepCount}`;
}

/** Reads the id of an interrupt. One that was never given out names a wait without a digest. */
export function readInterruptId(interruptId: string): InterruptRef {
  const [, waitId = interruptId, digest = ''] = /^(.*):([0-9a-f]{64})(?::\d+)?$/s.exec(interruptId) ?? [];
  return { waitId, digest };
}

const approvalSchema: JsonObject = {
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    editedArgs: { type: 'object', description: 'Full replacement of the arguments.' },
    reason: { type: 'string', description: 'Why it is rejected; the agent reads it.' },
  },
  required: ['approved'],
};

const grantSchema: JsonObject = {
  type: 'object',
  properties: Object.fromEntries(['steps', 'tokens', 'wallMs', 'activeMs', 'costUsd'].map((key) => [key, { type: 'number' }])),
};

/** Reason, sentence and schema of an interrupt. */
type Question = Pick<AgUiInterrupt, 'reason' | 'message' | 'responseSchema'>;

function toQuestion(wait: SessionWait): Question {
  switch (wait.type) {
    case 'approval':
      return { reason: 'tool_call', message: `Approve the call of ${wait.toolName}?`, responseSchema: approvalSchema };
    case 'client-tool':
      return { reason: 'input_required', message: `Run ${wait.toolName} and answer with its output.` };
    case 'unknown-call':
      return {
        reason: 'stepline:unknown_call',
        message: `${wait.toolName} was interrupted and may or may not have taken effect. Answer with its true result.`,
      };
    case 'grant':
      return { reason: 'stepline:grant', message: `The limit of ${wait.limit} was reached. Raise it?`, responseSchema: grantSchema };
    case 'provider':
      return { reason: 'stepline:provider', message: `The model provider is down. It is tried again at ${toTime(wait.nextTryAt)}.` };
    case 'person':
      if (wait.reason === 'crash-loop')
        return { reason: 'stepline:crash_loop', message: `The step ended the process ${wait.attempts} times. Run it once more?` };
      return { reason: 'input_required', message: wait.prompt ?? 'Your answer, please.', responseSchema: { type: 'string' } };
  }
}

const toTime = (at: number): string => new Date(at).toISOString();

/** Turns a wait into an interrupt. */
export function toInterrupt({ wait, stepCount, args, hiddenFields, call }: ShownWait): AgUiInterrupt {
  const { message = '', ...question } = toQuestion(wait);
  const problem = 'problem' in wait ? wait.problem : undefined;
  const tool = 'toolName' in wait ? wait.toolName : undefined;
  const metadata = {
    stepline: { waitId: wait.id, waitType: wait.type, digest: wait.digest, ...omitUndefined({ tool, args }), hiddenFields },
  };
  return omitUndefined({
    id: toInterruptId(wait, stepCount),
    ...question,
    // The last answer could not be used.
    message: problem === undefined ? message : `${problem} ${message}`,
    toolCallId: call?.callId,
    subagentRunId: call?.subagentRunId,
    expiresAt: wait.expiresAt === undefined ? undefined : toTime(wait.expiresAt),
    metadata,
  });
}
