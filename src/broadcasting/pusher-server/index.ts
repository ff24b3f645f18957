export type { PusherServerApp } from './apps.ts';
export type { PusherServer, PusherServerOptions } from './start-pusher-server.ts';
export { startPusherServer } from './start-pusher-server.ts';
