export type { Authorization, AuthorizationRequest, Authorize, RequestedWait } from './authorization.ts';
export { HttpAction } from './authorization.ts';
export type { ChannelGrant, ChannelToken, ChannelTokenOptions, ChannelTokens } from './channel-tokens.ts';
export { createChannelTokens } from './channel-tokens.ts';
export type { NewSessionQuestion, SessionHandlerOptions } from './handler-options.ts';
export { createSessionHandler } from './session-handler.ts';
export { errorStatuses } from './statuses.ts';
export { toNodeListener } from './to-node-listener.ts';
