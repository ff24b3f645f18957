// Follows every link of the built site: to pages, to files, and to headings. VitePress checks pages only.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the file that a static server sends for an address.
 * @type {(folder: string, path: string) => string | undefined} */
function toFile(folder, path) {
  const file = join(folder, decodeURIComponent(path));
  return [join(file, 'index.html'), `${file}.html`, file].find((each) => existsSync(each) && !each.endsWith('/'));
}

/** Finds links that lead nowhere. `base` is the address under which the site will be served.
 * @type {(folder: string, base?: string) => { readonly count: number, readonly dead: readonly string[] }} */
export function checkLinks(folder, base = '/') {
  const pages = globSync('**/*.html', { cwd: folder }).filter((page) => page !== '404.html');
  const texts = new Map(pages.map((page) => [join(folder, page), readFileSync(join(folder, page), 'utf8')]));
  const ids = new Map([...texts].map(([file, text]) => [file, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]));
  const links = pages.flatMap((page) =>
    [...(texts.get(join(folder, page)) ?? '').matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, link = '']) => ({ page, link })),
  );
  const inside = links.filter(({ link }) => link.startsWith(base) || link.startsWith('#'));
  const dead = inside.filter(({ page, link }) => {
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? join(folder, page) : toFile(folder, path.slice(base.length - 1));
    if (file === undefined) return true;
    return anchor !== undefined && anchor !== '' && ids.get(file)?.has(decodeURIComponent(anchor)) === false;
  });
  return { count: inside.length, dead: dead.map(({ page, link }) => `${page}: ${link}`) };
}
