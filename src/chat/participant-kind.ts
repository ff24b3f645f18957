/** Kind of participant. */
export const ParticipantKind = {
  /** A model, with tools or without. */
  Llm: 'llm',
  Agent: 'agent',
  Human: 'human',
  /** Says given words in turn. */
  Scripted: 'scripted',
  /** A function of the host's. */
  Function: 'function',
} as const;
export type ParticipantKind = (typeof ParticipantKind)[keyof typeof ParticipantKind];
