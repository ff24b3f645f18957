// How soon the page shows a session of 5,000 steps, and how smoothly it scrolls, in a real Chromium. Reported, and gates nothing.
//   npm run bench:page
import { startChromium } from '../tests/browser/chromium.ts';
import { measureOpening, measureScrolling } from '../tests/browser/long-session.ts';
import { loadPlaywright } from '../tests/browser/playwright.ts';
import { startSite } from '../tests/browser/site.ts';
import { median } from './measure.ts';

const rounds = 5;
const steps = 5000;

const site = await startSite();
const chromium = await startChromium();
const openings: number[] = [];
const frames: { readonly median: number; readonly p95: number; readonly longest: number }[] = [];
try {
  const browser = await (await loadPlaywright()).connect(chromium.endpoint);
  const id = await site.newSession(`steps ${steps}`, { agent: 'endless', until: 'rest' });
  for (let round = 0; round < rounds; round += 1) {
    // A browser of its own each time: no cache, no other tab.
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const { page, ms } = await measureOpening(context, `${site.url}/s/${id}`);
    openings.push(ms);
    frames.push(await measureScrolling(page));
    await context.close();
  }
  await browser.close();
} finally {
  await chromium.close();
  await site.end();
}

const pick = (key: 'median' | 'p95' | 'longest'): string => `${median(frames.map((each) => each[key])).toFixed(1)} ms`;
process.stdout.write(
  [
    `Node ${process.version}, a session of ${steps.toLocaleString('en')} steps, ${rounds} times (wanted: shown within 1,000 ms)`,
    `  shown      median ${Math.round(median(openings))} ms, slowest ${Math.round(Math.max(...openings))} ms after the page was asked for`,
    `  scrolling  frames of ${pick('median')}, 95 % below ${pick('p95')}, longest ${pick('longest')}`,
    '',
  ].join('\n'),
);
