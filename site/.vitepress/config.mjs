// site/build.mjs writes the pages and the sidebar before VitePress reads this file.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { toAnchor } from '../../scripts/pages.mjs';

const sidebar = JSON.parse(readFileSync(new URL('../.cache/sidebar.json', import.meta.url), 'utf8'));

export default defineConfig({
  title: 'Stepline',
  description: 'A TypeScript runtime for agents that can always tell you why.',
  lang: 'en',
  srcDir: '.cache/pages',
  outDir: 'dist',
  cacheDir: '.cache/vitepress',
  cleanUrls: true,
  lastUpdated: false,
  // Comments in the default dark theme are too faint to read.
  markdown: {
    theme: { light: 'github-light', dark: 'github-dark-default' },
    anchor: { slugify: toAnchor },
    headers: { slugify: toAnchor },
  },
  // The search index of all pages is one file.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar,
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'Recipes', link: '/recipes/approvals' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
      { text: 'API', link: '/api/' },
    ],
    docFooter: { prev: 'Before', next: 'Next' },
  },
});
