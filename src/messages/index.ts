export type { Attachment } from './attachment.ts';
export {
  describeAttachment,
  findAttachmentProblem,
  findUnreadable,
  listAttachments,
  toAttachmentPath,
  toLeftOutText,
  withoutUnreadable,
} from './attachment.ts';
export type { ContentPart, FilePart, ImagePart, TextPart } from './content-part.ts';
export { textPart } from './content-part.ts';
export type { MessageContent } from './message.ts';
export { createAnswerMessage, createResultMessage, isMessageContent, Message, toUserMessage } from './message.ts';
export { MessageRole, messageRoles } from './message-role.ts';
export { MessageStore, SectionName } from './message-store.ts';
export { Messages } from './messages.ts';
export type { Part, ProviderPart, ReasoningPart, ToolCallPart, ToolResultPart } from './parts.ts';
export { reasoningPart, toolCallPart, toolResultPart, toToolCall, toToolResult } from './parts.ts';
export { readContentPart, readPart, readToolOutput } from './read-part.ts';
export type { ToolCall } from './tool-call.ts';
export type { ToolOutput, ToolResult } from './tool-result.ts';
export { toolResultText } from './tool-result.ts';
export type { OfferedTool, ProviderTool } from './tool-schema.ts';
export type { ReportedUsage, UsageCounts } from './usage.ts';
export { toUsage, Usage } from './usage.ts';
export type { PartExtras } from './content-part.ts';
