export type {
  AgentUIMessage,
  AnswerData,
  AnswerMetadata,
  AnswerOutcome,
  AnswerWait,
  UIMessageSource,
  UIMessageStreamOptions,
} from '../broadcasting/ui-message-stream/index.ts';
export { toUIMessageStream } from '../broadcasting/ui-message-stream/index.ts';
