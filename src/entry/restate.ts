export { restateEngine } from '../journal/restate/index.ts';
export type { SessionObject, SessionObjectOptions } from '../sessions/restate/index.ts';
export { createSessionObject } from '../sessions/restate/index.ts';
