export type { PusherServer, PusherServerApp, PusherServerOptions } from '../broadcasting/pusher-server/index.ts';
export { startPusherServer } from '../broadcasting/pusher-server/index.ts';
