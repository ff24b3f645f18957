export type {
  EchoLike,
  PusherApp,
  PusherBroadcaster,
  PusherBroadcasterOptions,
  PusherChannels,
  PusherLike,
  PusherStats,
  PusherTransport,
  PusherTransportOptions,
} from '../broadcasting/pusher/index.ts';
export {
  createPusherBroadcaster,
  createPusherChannels,
  createPusherTransport,
  PublishFailedError,
  pusherChannel,
  toChannelName,
} from '../broadcasting/pusher/index.ts';
