// The HTML of the page.
// P1. Nothing of the configuration can end its element: it is escaped as JSON and as HTML.
// P2. There are no inline scripts and no inline styles, so that the policy needs no exceptions.
import type { PageFile } from './page-file.ts';
import type { PageConfig } from './page-options.ts';

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? '');

/** Writes a value as JSON that no HTML parser can mistake for the end of its element. */
const toSafeJson = (value: object): string =>
  JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

const tags: Readonly<Record<PageFile['use'], (address: string) => string>> = {
  script: (address) => `<script type="module" src="${address}"></script>`,
  style: (address) => `<link rel="stylesheet" href="${address}" />`,
  icon: (address) => `<link rel="icon" type="image/svg+xml" href="${address}" />`,
  licenses: (address) => `<link rel="license" href="${address}" />`,
};

const unbuilt = '<p>This page is not built. Run <code>npm run build</code>, then reload.</p>';

/** Returns the HTML that every address of the page is answered with. */
export function toIndex(config: PageConfig, files: readonly PageFile[]): string {
  const links = files.map(({ path, use }) => tags[use](escapeHtml(`${config.basePath}/${path}`)));
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8" />',
    '<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />',
    '<meta name="color-scheme" content="light dark" />',
    `<title>${escapeHtml(config.title)}</title>`,
    `<script type="application/json" id="page-config">${toSafeJson(config)}</script>`,
    ...links,
    '</head>',
    '<body>',
    `<div id="root">${files.length === 0 ? unbuilt : ''}</div>`,
    '<noscript>This page needs JavaScript.</noscript>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
