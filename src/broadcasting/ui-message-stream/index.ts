export type { AgentUIMessage, AnswerData, AnswerMetadata, AnswerOutcome, AnswerWait } from './answer-types.ts';
export type { UIMessageSource, UIMessageStreamOptions } from './to-ui-message-stream.ts';
export { toUIMessageStream } from './to-ui-message-stream.ts';
