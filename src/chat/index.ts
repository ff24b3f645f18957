// What the package shows of this room (door.ts has the same names), and what the room of collaborations is built with.
export type { Chat, ChatOptions } from './chat.ts';
export { createChat } from './chat.ts';
export type { AskedFacts, ChatEvent } from './chat-events.ts';
export { ParticipantSelected, PersonAsked } from './chat-events.ts';
export { ChatState } from './chat-state.ts';
export type { ChatStep, InnerRun, ParticipantWindow, Selection, TurnMemo, UnfinishedTurn } from './chat-step.ts';
export type {
  ContextOfParticipants,
  Conversation,
  ConversationDescription,
  ConversationInput,
  ConversationOptions,
  ConversationRun,
  ConversationStates,
} from './conversation.ts';
export type { DefaultCriteriaOptions } from './conversation-criteria.ts';
export { defaultCriteria } from './conversation-criteria.ts';
export { TurnIncompleteError } from './turn-incomplete-error.ts';
export { ParticipantChangedError } from './participant-changed-error.ts';
export { ConversationFailedError } from './conversation-failed-error.ts';
export type {
  CompletedConversation,
  ConversationResult,
  FailedConversation,
  StoppedConversation,
  WaitingConversation,
} from './conversation-result.ts';
export { EveryoneHasSpoken } from './everyone-has-spoken.ts';
export type { Participant, ParticipantInfo } from './participant.ts';
export { ParticipantKind } from './participant-kind.ts';
export type { AgentParticipantOptions, ContextOfAgent } from './participants/agent.ts';
export { agentParticipant } from './participants/agent.ts';
export type { FunctionParticipantOptions, TurnFacts } from './participants/function.ts';
export { functionParticipant } from './participants/function.ts';
export type { HumanParticipantOptions } from './participants/human.ts';
export { humanParticipant } from './participants/human.ts';
export type { LlmParticipantOptions } from './participants/llm.ts';
export { llmParticipant } from './participants/llm.ts';
export type { ScriptedParticipantOptions } from './participants/scripted.ts';
export { scriptedParticipant } from './participants/scripted.ts';
export type { AddressedOptions } from './selectors/addressed.ts';
export { addressed } from './selectors/addressed.ts';
export type { CoordinatorOptions } from './selectors/coordinator.ts';
export { coordinator } from './selectors/coordinator.ts';
export { roundRobin } from './selectors/round-robin.ts';
export type { SelectByOptions, SelectFacts, SelectFunction } from './selectors/select-by.ts';
export { selectBy } from './selectors/select-by.ts';
export type { Choice, Ended, Given, SelectionFacts, Selector } from './selectors/selector.ts';
export { TurnNotGivenError } from './selectors/turn-not-given-error.ts';
export type { SpokenTurn } from './turn-state.ts';
export { TurnState } from './turn-state.ts';
export { checkConversationOptions } from './check-options.ts';
export { createConversation } from './conversation.ts';
export type { ConversationKind } from './conversation.ts';
export type { Reading, Seat, Spoken, Table, Turn } from './participant.ts';
export { checkParticipant } from './participant.ts';
export { seatOfAgent } from './participants/agent.ts';
export { functionSeat } from './participants/function.ts';
export { humanSeat } from './participants/human.ts';
export { scriptedSeat } from './participants/scripted.ts';
export { decodeTurn, encodeTurn, getInnerOutcome } from './step-codec.ts';
export type { Equipment, TurnExtension } from './turn-setup.ts';
export { withoutCalls } from './inner-record.ts';
export { lastInput, speakerOf } from './turn-state.ts';
