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
  WebhookCheck,
  WebhookOptions,
} from '../broadcasting/http/index.ts';
export {
  createChannelTokens,
  createSessionHandler,
  errorStatuses,
  HttpAction,
  toNodeListener,
  verifyWebhook,
  webhook,
  WebhookFailedError,
} from '../broadcasting/http/index.ts';
