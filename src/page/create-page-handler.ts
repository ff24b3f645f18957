// The handler that serves the page.
// Owns:     the addresses of the page, their caching, and their policy.
// Does not: serve sessions, or know who may see the page: nothing in it is secret.
// S1. Files whose names change with their contents are kept for ever; the HTML is asked for again each time.
// S2. Every other address below the base path answers with the HTML: the page reads the rest of its address itself.
import { sha256 } from '../lib/index.ts';
import type { PageFile } from './page-file.ts';
import { toPageHeaders } from './page-headers.ts';
import type { PageConfig, PageOptions } from './page-options.ts';
import { parsePageOptions } from './page-options.ts';
import { toIndex } from './to-index.ts';

/** Content of an address, with what a browser may keep of it. */
interface Served {
  readonly type: string;
  readonly body: string;
  readonly caching: string;
  readonly etag: string;
}

const toEtag = (body: string): string => `"${sha256(body).slice(0, 32)}"`;

const toServed = ({ type, body }: PageFile): Served => ({
  type,
  body,
  caching: 'public, max-age=31536000, immutable',
  etag: toEtag(body),
});

/** True if the browser has this version already. A proxy that compresses may have weakened the tag. */
function isKnown(request: Request, etag: string): boolean {
  const given = request.headers.get('if-none-match');
  return given !== null && given.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')));
}

/** Serves built files under a configuration. */
export function servePage(config: PageConfig, loadFiles: () => Promise<readonly PageFile[]>): (request: Request) => Promise<Response> {
  const headers = toPageHeaders(config);
  const load = async (): Promise<ReadonlyMap<string, Served>> => {
    const files = await loadFiles();
    const html = toIndex(config, files);
    const index = { type: 'text/html; charset=utf-8', body: html, caching: 'no-cache', etag: toEtag(html) };
    return new Map([['/', index], ...files.map((file) => [`/${file.path}`, toServed(file)] as const)]);
  };
  const refuse = (status: number, text: string, more: Readonly<Record<string, string>> = {}): Response =>
    new Response(text, { status, headers: { ...headers, ...more, 'content-type': 'text/plain; charset=utf-8' } });
  let loaded: Promise<ReadonlyMap<string, Served>> | undefined;
  return async (request) => {
    const { pathname } = new URL(request.url);
    const { method } = request;
    if (pathname !== config.basePath && !pathname.startsWith(`${config.basePath}/`)) return refuse(404, 'Not found.');
    if (method !== 'GET' && method !== 'HEAD') return refuse(405, 'Use GET or HEAD.', { allow: 'GET, HEAD' });
    const path = pathname.slice(config.basePath.length);
    const served = await (loaded ??= load());
    const found = served.get(path) ?? (path.startsWith('/assets/') ? undefined : served.get('/'));
    if (found === undefined) return refuse(404, 'Not found.', { 'cache-control': 'no-cache' });
    const { type, body, caching, etag } = found;
    const shown = { ...headers, 'content-type': type, 'cache-control': caching, etag };
    if (isKnown(request, etag)) return new Response(null, { status: 304, headers: shown });
    return new Response(method === 'HEAD' ? null : body, { status: 200, headers: shown });
  };
}

/** Creates a handler that serves the page: conversations, approvals, and why an agent did what it did. */
export function createPageHandler(options: PageOptions = {}): (request: Request) => Promise<Response> {
  return servePage(parsePageOptions(options), async () => (await import('./files.ts')).pageFiles);
}
