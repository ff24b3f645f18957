/** Who speaks in a message. */
export const MessageRole = { System: 'system', Developer: 'developer', User: 'user', Assistant: 'assistant', Tool: 'tool' } as const;
/** Who speaks in a message. */
export type MessageRole = (typeof MessageRole)[keyof typeof MessageRole];

/** All roles, in the order of their declaration. */
export const messageRoles: readonly MessageRole[] = Object.values(MessageRole);
