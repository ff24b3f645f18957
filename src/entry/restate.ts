export { restateEngine } from '../journal/restate/index.ts';
export type {
  IngressOptions,
  RebuildCopyOptions,
  RestateEndpoint,
  RestateSessionsOptions,
  ServeDeskOptions,
  ServeSessionsOptions,
  SessionsEndpoint,
} from '../sessions/restate/index.ts';
export { IngressError, rebuildCopy, restateSessions, serveDesk, serveSessions, SessionTooLargeError } from '../sessions/restate/index.ts';
