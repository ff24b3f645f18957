export type {
  ChannelRequest,
  EchoLike,
  PusherApp,
  PusherBroadcaster,
  PusherBroadcasterOptions,
  PusherChannelLike,
  PusherChannels,
  PusherKeys,
  PusherLike,
  PusherStats,
  PusherTransport,
  PusherTransportOptions,
} from '../broadcasting/pusher/index.ts';
export {
  createPusherBroadcaster,
  createPusherChannels,
  createPusherTransport,
  fromChannelName,
  PublishFailedError,
  pusherChannel,
  toChannelName,
} from '../broadcasting/pusher/index.ts';
