export type { DbosApi } from './dbos-api.ts';
export { dbosEngine } from './dbos-engine.ts';
