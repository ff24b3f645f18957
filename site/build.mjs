// npm run docs: writes the pages and the API reference into site/.cache/pages, and builds the site into site/dist.
// Fails on a warning. Options go to VitePress: npm run docs -- --base /stepline/
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toLlmsFull, toLlmsIndex } from '../scripts/llms.mjs';
import { root, run } from '../scripts/run.mjs';
import { writeApiPages } from './api-pages.mjs';
import { checkLinks } from './check-links.mjs';
import { writePages } from './pages.mjs';
import { toSidebar } from './sidebar.mjs';

const site = join(root, 'site');
const pages = join(site, '.cache/pages');

rmSync(pages, { recursive: true, force: true });
writePages(pages);
const names = await writeApiPages(pages);
writeFileSync(join(site, '.cache/sidebar.json'), JSON.stringify(toSidebar()));
writeFileSync(join(pages, 'public/llms.txt'), toLlmsIndex());
writeFileSync(join(pages, 'public/llms-full.txt'), toLlmsFull());

const { ok, output, seconds } = await run(
  process.execPath,
  [join(site, 'node_modules/vitepress/bin/vitepress.js'), 'build', '.', ...process.argv.slice(2)],
  { cwd: site },
);
const warnings = output.split('\n').filter((line) => /\(!\)|warn|deprecat|not found|dead link|could not/i.test(line));
const baseAt = process.argv.indexOf('--base');
const { count, dead } = ok ? checkLinks(join(site, 'dist'), baseAt === -1 ? '/' : process.argv[baseAt + 1]) : { count: 0, dead: [] };
if (!ok || warnings.length > 0) console.error(output);
for (const line of warnings) console.error(`Warning: ${line}`);
for (const line of dead) console.error(`Dead link: ${line}`);
if (!ok || warnings.length > 0 || dead.length > 0 || count === 0) process.exitCode = 1;
else
  console.log(
    `site/dist is built in ${seconds}: ${String(names)} names in the API reference, ${String(count)} links that all lead somewhere. Look at it with npm run docs:preview.`,
  );
