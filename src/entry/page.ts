export type { PageOptions } from '../page/index.ts';
export { createPageHandler } from '../page/index.ts';
