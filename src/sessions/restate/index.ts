export { IngressError } from './ingress-error.ts';
export type { IngressOptions } from './ingress.ts';
export type { RestateSessionsOptions } from './restate-sessions.ts';
export { restateSessions } from './restate-sessions.ts';
export type { ServeDeskOptions, ServeSessionsOptions } from './serve-options.ts';
export type { RestateEndpoint, SessionsEndpoint } from './serve.ts';
export { serveDesk, serveSessions } from './serve.ts';
export { SessionTooLargeError } from './session-too-large-error.ts';
