export { restateEngine } from '../journal/restate/index.ts';
export type {
  IngressOptions,
  RestateEndpoint,
  RestateSessionsOptions,
  ServeDeskOptions,
  ServeSessionsOptions,
  SessionsEndpoint,
} from '../sessions/restate/index.ts';
export { IngressError, restateSessions, serveDesk, serveSessions, SessionTooLargeError } from '../sessions/restate/index.ts';
