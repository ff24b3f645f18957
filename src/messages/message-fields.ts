import type { JsonObject } from '../lib/index.ts';
import type { MessageRole } from './message-role.ts';
import type { Part } from './parts.ts';

/** All that makes up a message. */
export interface MessageFields {
  readonly id: string;
  readonly role: MessageRole;
  readonly parts: readonly Part[];
  readonly name?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly providerOptions?: JsonObject | undefined;
}
