// The built files of the page. The build writes another module in place of this one; running from sources, there are none.
import type { PageFile } from './page-file.ts';

export const pageFiles: readonly PageFile[] = [];
