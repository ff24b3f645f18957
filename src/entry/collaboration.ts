export type { Participant } from '../chat/index.ts';
export type {
  Artifact,
  BoardCapability,
  Collaboration,
  CollaborationEvent,
  CollaborationOptions,
  CollaborationStep,
  Completion,
  Contribution,
} from '../collaboration/index.ts';
export {
  agentCollaborator,
  Board,
  BoardTool,
  BoardUpdated,
  CollaborationState,
  createCollaboration,
  functionCollaborator,
  humanCollaborator,
  llmCollaborator,
  scriptedCollaborator,
} from '../collaboration/index.ts';
