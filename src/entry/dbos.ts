export type { DbosApi } from '../journal/dbos/index.ts';
export { dbosEngine } from '../journal/dbos/index.ts';
