export type { SessionObject, SessionObjectOptions } from './session-object.ts';
export { createSessionObject } from './session-object.ts';
