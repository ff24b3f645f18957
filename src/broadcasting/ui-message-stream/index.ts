export type { AgentUIMessage, AnswerData, AnswerMetadata, AnswerOutcome, AnswerWait } from './answer-types.ts';
export type { UIMessageSource, UIMessageStreamOptions } from './to-ui-message-stream.ts';
export { toUIMessageStream } from './to-ui-message-stream.ts';
export type { ChatRouteOptions } from './chat/chat-options.ts';
export type { ChatRoutes } from './chat/chat-routes.ts';
export { chatRoutes } from './chat/chat-routes.ts';
