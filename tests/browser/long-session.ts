// Measures a page that opens and scrolls a long session.
import type { BrowserContext, Page } from './playwright.ts';

/** A message at the end of a session of the order `steps`. */
export const lastText = 'The last step.';

/** Notes when the last message is first on the screen, in milliseconds since the page was asked for. */
const noteFirstContent = `window.shown = new Promise((resolve) => {
  const look = () => {
    if (document.querySelector('[role=log]')?.innerText.includes(${JSON.stringify(lastText)})) resolve(performance.now());
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

/** Opens a session in a new tab; returns the milliseconds until its last message was shown. */
export async function measureOpening(context: BrowserContext, url: string): Promise<{ readonly page: Page; readonly ms: number }> {
  const page = await context.newPage();
  await page.addInitScript(noteFirstContent);
  await page.goto(url);
  return { page, ms: Number(await page.evaluate('window.shown')) };
}

const scroll = `new Promise((resolve) => {
  const log = document.querySelector('[role=log]');
  const frames = [];
  let before = performance.now();
  const next = (now) => {
    frames.push(now - before);
    before = now;
    log.scrollTop -= 300;
    if (frames.length < 180) requestAnimationFrame(next);
    else resolve(frames.slice(1).sort((one, other) => one - other));
  };
  requestAnimationFrame(next);
})`;

/** Durations of frames while a page scrolls up for three seconds, in milliseconds. */
export interface ScrollFrames {
  readonly median: number;
  readonly p95: number;
  readonly longest: number;
}

/** Scrolls up, frame by frame. */
export async function measureScrolling(page: Page): Promise<ScrollFrames> {
  // Holds: the script above resolves with these.
  const frames = (await page.evaluate(scroll)) as readonly number[];
  const pick = (part: number): number => frames[Math.min(frames.length - 1, Math.floor(frames.length * part))] ?? 0;
  return { median: pick(0.5), p95: pick(0.95), longest: pick(1) };
}
