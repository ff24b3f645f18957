export type {
  ActionInput,
  Authenticate,
  Authentication,
  Authorization,
  AuthorizationRequest,
  Authorize,
  RequestedWait,
} from './authorization.ts';
export { HttpAction } from './authorization.ts';
export type { ChannelGrant, ChannelToken, ChannelTokenOptions, ChannelTokens } from './channel-tokens.ts';
export { createChannelTokens } from './channel-tokens.ts';
export type { NewSessionQuestion, SessionHandlerOptions } from './handler-options.ts';
export { createSessionHandler } from './session-handler.ts';
export type { ChannelSigner } from './routes/channel-route.ts';
export { errorStatuses } from './statuses.ts';
export { toNodeListener } from './to-node-listener.ts';
export type { WebhookOptions } from './webhook/webhook.ts';
export { webhook } from './webhook/webhook.ts';
export { WebhookFailedError } from './errors/webhook-failed-error.ts';
export type { WebhookCheck } from './webhook/webhook-signature.ts';
export { verifyWebhook } from './webhook/webhook-signature.ts';

// For handlers of other protocols.
export type { Caller, GateOptions } from './authorization.ts';
export { Gate, toAnsweredWait, toOrigin } from './authorization.ts';
export { HiddenArgumentsError } from './errors/hidden-arguments-error.ts';
export { MethodNotAllowedError } from './errors/method-not-allowed-error.ts';
export { NotFoundError } from './errors/not-found-error.ts';
export { getSession } from './find-session.ts';
export { createWaitError, findOpenWait, readWaitHistory } from './find-wait.ts';
export { guardRequests } from './guard-requests.ts';
export { describeError, isServerError, toErrorResponse, toResponse } from './json-response.ts';
export { createReporter, parseBasePath, parseCount, parseOrigins } from './parse-options.ts';
export { assertParsable, readBody } from './read-body.ts';
export { assertSeen } from './seen-wait.ts';
export type { Signer } from './signer.ts';
export { createSigner } from './signer.ts';
export type { SessionStreamItem } from './sse/session-stream.ts';
export { SessionStream } from './sse/session-stream.ts';
export { toSseResponse } from './sse/to-sse-response.ts';
export { toShownArgs } from './wait-view.ts';
