/** Role of a message's author. */
export const MessageRole = { System: 'system', Developer: 'developer', User: 'user', Assistant: 'assistant', Tool: 'tool' } as const;
/** Role of a message's author. */
export type MessageRole = (typeof MessageRole)[keyof typeof MessageRole];

/** All roles, in the order of their declaration. */
export const messageRoles: readonly MessageRole[] = Object.values(MessageRole);
