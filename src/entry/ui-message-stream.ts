export type {
  AgentUIMessage,
  AiSdkAgentOptions,
  AiSdkToolSet,
  AnswerData,
  AnswerMetadata,
  AnswerOutcome,
  AnswerWait,
  ChatRouteOptions,
  ChatRoutes,
  UIMessageSource,
  UIMessageStreamOptions,
} from '../broadcasting/ui-message-stream/index.ts';
export {
  AgentRunFailedError,
  asAiSdkAgent,
  chatRoutes,
  fromModelMessages,
  fromUIMessages,
  toModelMessages,
  toUIMessages,
  toUIMessageStream,
} from '../broadcasting/ui-message-stream/index.ts';
