// A session of 5,000 steps on the page. How long it takes is printed here and measured by `npm run bench:page`.
import { describe, expect, it } from 'vitest';
import { findConversation } from './conversation.ts';
import { lastText, measureOpening, measureScrolling } from './long-session.ts';
import { openSite, openTabs } from './tabs.ts';

describe('a session of 5,000 steps', () => {
  it('opens at its end, and can be scrolled to its beginning', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const id = await site.newSession('steps 5000', { agent: 'endless', until: 'rest' });
    const { page, ms } = await measureOpening(tabs.context, `${site.url}/s/${id}`);
    const talk = findConversation(page);
    expect(await talk.countText(lastText)).toBe(1);
    const { median, p95, longest } = await measureScrolling(page);
    console.log(
      `5,000 steps: shown after ${Math.round(ms)} ms; frames while scrolling: median ${median.toFixed(1)} ms, ` +
        `95 % below ${p95.toFixed(1)} ms, longest ${longest.toFixed(1)} ms.`,
    );
    await expect.poll(() => page.getByText('Loading earlier messages…').count(), { timeout: 60_000 }).toBe(0);
    // Rows near the beginning get their height as they are shown, so that one jump may end a little below it.
    await expect
      .poll(async () => {
        await page.evaluate('document.querySelector("[role=log]").scrollTop = 0');
        return talk.countText('steps 5000');
      })
      .toBe(1);
    expect(await page.locator('[role=log] article').count()).toBeLessThan(200);
    await talk.getButton('Jump to newest').click();
    await talk.waitForText(lastText);
  }, 180_000);
});
