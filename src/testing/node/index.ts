export type { LoopbackServer, ReceivedRequest } from './loopback-server.ts';
export { startLoopbackServer } from './loopback-server.ts';
export { connectModel } from './provider-package.ts';
export type { RecordedModel } from './recorded-model.ts';
export { recordedModel } from './recorded-model.ts';
export type { Interaction, Recording } from './recording.ts';
export { readRecording } from './recording.ts';
export { parseEvents, isCorrupt, WireApi, detectWireApi } from './wire-api.ts';
