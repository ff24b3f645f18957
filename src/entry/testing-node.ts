export type { RecordedModel } from '../testing/node/index.ts';
export { recordedModel } from '../testing/node/index.ts';
