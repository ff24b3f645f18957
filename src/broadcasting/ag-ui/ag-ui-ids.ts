// Ids that a page sees. They follow from what is stored, so that a message has the same id while it is written and after a reload.

/** Id of the assistant's message of a step. */
export const toMessageId = (executionId: string, step: number): string => `${executionId}/${step}`;

/** Id of a call. Those of models may repeat in a later step, or in a sub-agent. */
export const toCallId = (messageId: string, toolCallId: string): string => `${messageId}/${toolCallId}`;

/** Id of the message with the result of a call. */
export const toResultId = (callId: string): string => `${callId}/result`;

/** Id of the reasoning of a step. */
export const toReasoningId = (messageId: string): string => `${messageId}/reasoning`;

/** True for an id that a message of the agent has, or may get. */
export function isAgentsId(sessionId: string, id: string): boolean {
  return id.startsWith(`${sessionId}/`) && /^\d+\/\d+(?:\/|$)/.test(id.slice(sessionId.length + 1));
}
