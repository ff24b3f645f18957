export { createPageHandler } from './create-page-handler.ts';
export type { PageOptions } from './page-options.ts';
