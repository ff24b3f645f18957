/** A built file of the page. Its name changes with its contents, so that browsers may keep it for ever. */
export interface PageFile {
  /** Path below the page: `assets/page-1a2b3c.js`. */
  readonly path: string;
  readonly use: 'script' | 'style' | 'icon' | 'licenses';
  /** Content type. */
  readonly type: string;
  readonly body: string;
}
