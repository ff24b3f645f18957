import { describe, expect, it } from 'vitest';
import { servePage } from './create-page-handler.ts';
import { createPageHandler } from './index.ts';
import type { PageFile } from './page-file.ts';
import type { PageOptions } from './page-options.ts';
import { parsePageOptions } from './page-options.ts';

const script: PageFile = { path: 'assets/page-1.js', use: 'script', type: 'text/javascript; charset=utf-8', body: 'start();' };
const style: PageFile = { path: 'assets/page-2.css', use: 'style', type: 'text/css; charset=utf-8', body: 'body{}' };

/** Makes a request to a page of two files. */
async function ask(path: string, options: PageOptions = {}, init: RequestInit = {}): Promise<Response> {
  const handler = servePage(parsePageOptions(options), async () => [script, style]);
  return handler(new Request(`https://app.example${path}`, init));
}

/** Reads the configuration out of the HTML as a browser would: up to the first end of its element. */
function readConfig(html: string): unknown {
  const [, text] = /<script type="application\/json" id="page-config">(.*?)<\/script/is.exec(html) ?? [];
  return JSON.parse(text ?? '');
}

describe('the page', () => {
  it.each(['/', '/inbox', '/s/session-1', '/s/a%2Fb', '/anything/else'])('is the same HTML at %s', async (path) => {
    const response = await ask(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await response.text();
    expect(html).toContain('<script type="module" src="/assets/page-1.js"></script>');
    expect(html).toContain('<link rel="stylesheet" href="/assets/page-2.css" />');
  });

  it('is asked for again each time, and not sent again if it has not changed', async () => {
    const first = await ask('/');
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('no-cache');
    for (const known of [etag, `"other", W/${etag}`, '*']) {
      const again = await ask('/s/1', {}, { headers: { 'if-none-match': known } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    expect((await ask('/', {}, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    expect((await ask('/', { title: 'Desk' })).headers.get('etag')).not.toBe(etag);
  });

  it('keeps files for ever, since their names change with their contents', async () => {
    const response = await ask('/assets/page-1.js');
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-type')).toBe(script.type);
    expect(await response.text()).toBe('start();');
  });

  it('answers 404 for a file of another version, so that no browser runs HTML as a script', async () => {
    const response = await ask('/assets/page-0.js');
    expect(response.status).toBe(404);
    expect(response.headers.get('cache-control')).toBe('no-cache');
  });

  it('answers HEAD with the same headers and no body', async () => {
    for (const path of ['/', '/assets/page-1.js']) {
      const [get, head] = [await ask(path), await ask(path, {}, { method: 'HEAD' })];
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect([...head.headers]).toEqual([...get.headers]);
    }
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('answers 405 to %s', async (method) => {
    const response = await ask('/', {}, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('says how to build it if it is run from its sources', async () => {
    const response = await createPageHandler()(new Request('https://app.example/'));
    expect(await response.text()).toContain('npm run build');
  });
});

describe('a base path', () => {
  it.each(['/desk', '/desk/', '/desk/s/1'])('serves %s', async (path) => {
    const response = await ask(path, { basePath: '/desk' });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('src="/desk/assets/page-1.js"');
  });

  it('may have a slash at its end', async () => {
    expect(readConfig(await (await ask('/desk', { basePath: '/desk/' })).text())).toMatchObject({ basePath: '/desk' });
  });

  it.each(['/', '/desks', '/other/desk', '/assets/page-1.js'])('does not serve %s', async (path) => {
    expect((await ask(path, { basePath: '/desk' })).status).toBe(404);
  });

  it('has its files below it', async () => {
    expect((await ask('/desk/assets/page-1.js', { basePath: '/desk' })).status).toBe(200);
  });
});

describe('the policy', () => {
  const readPolicy = async (options: PageOptions = {}, path = '/'): Promise<readonly string[]> =>
    ((await ask(path, options)).headers.get('content-security-policy') ?? '').split('; ');

  it.each(['/', '/assets/page-1.js', '/assets/none.js'])('goes with %s', async (path) => {
    expect(await readPolicy({}, path)).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
  });

  it('allows requests to the origins that the options name, and to no other', async () => {
    const options = { api: 'https://api.example/agents', tokenUrl: 'https://login.example/token?x=1', tour: '/tour' };
    expect(await readPolicy(options)).toContain("connect-src 'self' https://api.example https://login.example");
  });

  it('needs no exception: the HTML has no script, style or handler of its own', async () => {
    const html = await (await ask('/', { tour: '/tour' })).text();
    expect(html.match(/<script(?![^>]*(src=|application\/json))/g)).toBeNull();
    expect(html).not.toMatch(/<style| style=| on\w+=/);
  });
});

describe('the configuration', () => {
  it('has defaults', async () => {
    expect(readConfig(await (await ask('/')).text())).toEqual({ basePath: '', api: '/agents', title: 'Stepline' });
  });

  it.each([
    '</script><script>alert(1)</script>',
    '<!--<script>',
    '"\'&lt;&#x3C;',
    '\u2028\u2029 \\u003c',
    '</title><img src=x onerror=alert(1)>',
  ])('reaches the page as it is, and ends nothing: %j', async (title) => {
    const html = await (await ask('/', { title })).text();
    expect(readConfig(html)).toMatchObject({ title });
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html).not.toContain('<img');
  });

  it('has suggestions, each once', async () => {
    const html = await (await ask('/', { suggestions: ['Find Acme', 'Help', 'Help'] })).text();
    expect(readConfig(html)).toMatchObject({ suggestions: ['Find Acme', 'Help'] });
  });

  it.each<[string, object]>([
    ['basePath', { basePath: 'desk' }],
    ['basePath', { basePath: '//evil.example' }],
    ['basePath', { basePath: '/desk"><script>' }],
    ['api', { api: 'javascript:alert(1)' }],
    ['api', { api: '//evil.example' }],
    ['api', { api: 5 }],
    ['tokenUrl', { tokenUrl: 'token' }],
    ['tour', { tour: 'ftp://app.example' }],
    ['title', { title: ' ' }],
    ['suggestions', { suggestions: 'Hello' }],
    ['suggestions', { suggestions: ['Hello', ' '] }],
  ])('refuses a %s that is not one: %j', (name, options) => {
    expect(() => createPageHandler(options)).toThrow(`${name} must be`);
  });

  it('refuses options that it does not know', () => {
    expect(() => createPageHandler({ url: '/agents' } as object)).toThrow('Unknown option "url" in createPageHandler()');
    expect(() => createPageHandler('desk' as unknown as PageOptions)).toThrow('createPageHandler() takes options');
  });
});
