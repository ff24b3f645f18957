export type {
  Authorization,
  AuthorizationRequest,
  Authorize,
  ChannelGrant,
  ChannelToken,
  ChannelTokenOptions,
  ChannelTokens,
  NewSessionQuestion,
  RequestedWait,
  SessionHandlerOptions,
} from '../broadcasting/http/index.ts';
export { createChannelTokens, createSessionHandler, errorStatuses, HttpAction, toNodeListener } from '../broadcasting/http/index.ts';
