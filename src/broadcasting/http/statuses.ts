// The HTTP status of every error code. docs/http.md shows this table, and a test compares both with docs/errors.md.

/** The status of an error, and what a client reads if the message itself stays inside. */
export interface ErrorStatus {
  readonly status: number;
  /** Sent in place of the message, which may name files, hosts or processes. */
  readonly sentence?: string;
}

const failed = { status: 500, sentence: 'The server failed. The problem was reported.' };
const unavailable = { status: 503, sentence: 'The server cannot do this at the moment. Try again with the same request id.' };
const unknown = { status: 404, sentence: 'There is no such session.' };

/** Statuses by error code. */
export const errorStatuses: Readonly<Record<string, ErrorStatus>> = {
  'action-refused': { status: 409 },
  'agent-changed': { status: 409 },
  'agent-run-failed': failed,
  'already-answered': { status: 409 },
  'attempt-replaced': failed,
  'body-too-large': { status: 413 },
  'command-failed': failed,
  'conformance-failed': failed,
  'conversation-failed': failed,
  'context-failed': unavailable,
  'context-overflow': failed,
  'crash-loop': { status: 409 },
  'criterion-failed': failed,
  'damaged-data': failed,
  'empty-response': failed,
  'foreign-approval': { status: 403 },
  'forged-approval': { status: 403 },
  'hidden-arguments': { status: 428 },
  'hook-failed': failed,
  'invalid-argument': { status: 400 },
  'invalid-token': { status: 401 },
  'invalid-tool': failed,
  'late-answer': { status: 409 },
  'late-result': failed,
  'lease-lost': unavailable,
  'lost-in-payload': failed,
  'mail-waiting': unavailable,
  'malformed-response': failed,
  'message-refused': { status: 409 },
  'method-not-allowed': { status: 405 },
  'model-failed': failed,
  'newer-schema': failed,
  'not-allowed': { status: 403 },
  'not-authenticated': { status: 401 },
  'not-found': { status: 404 },
  'not-waiting': { status: 409 },
  'origin-refused': { status: 403 },
  'participant-changed': failed,
  'publish-failed': failed,
  'rate-limited': failed,
  'request-failed': failed,
  'request-reused': { status: 409 },
  'runtime-closed': unavailable,
  'session-conflict': { status: 409 },
  'session-damaged': failed,
  'session-deleted': unknown,
  'stale-approval': { status: 409 },
  'store-unavailable': unavailable,
  'stream-interrupted': failed,
  'timed-out': failed,
  'tool-failed': failed,
  'turn-incomplete': failed,
  'turn-not-given': failed,
  'unencodable-value': failed,
  'unknown-agent': failed,
  'unknown-session': unknown,
  'unknown-step': { status: 404 },
  'unrecordable-row': failed,
  'unsupported-model': failed,
  'validation-failed': failed,
  'webhook-failed': failed,
  'wrong-content-type': { status: 415 },
  'wrong-kind': failed,
};

/** Returns the status of an error code. One that is not in the table is a failure of the server. */
export function getErrorStatus(code: string): ErrorStatus {
  return (Object.hasOwn(errorStatuses, code) ? errorStatuses[code] : undefined) ?? failed;
}
