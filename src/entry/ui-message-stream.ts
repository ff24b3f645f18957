export type {
  AgentUIMessage,
  AnswerData,
  AnswerMetadata,
  AnswerOutcome,
  AnswerWait,
  ChatRouteOptions,
  ChatRoutes,
  UIMessageSource,
  UIMessageStreamOptions,
} from '../broadcasting/ui-message-stream/index.ts';
export { chatRoutes, toUIMessageStream } from '../broadcasting/ui-message-stream/index.ts';
