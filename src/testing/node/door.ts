// What the package shows of this folder. Its own tests use more, through index.ts.
export type { ReceivedRequest } from './loopback-server.ts';
export type { RecordedModel, RecordedModelOptions } from './recorded-model.ts';
export { recordedModel } from './recorded-model.ts';
