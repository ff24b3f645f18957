// A page that was asleep for twenty minutes: its connection is gone, its token has expired, and the session went on without it.
import { describe, expect, it } from 'vitest';
import { toWords } from './agents.ts';
import type { Conversation } from './conversation.ts';
import { findConversation } from './conversation.ts';
import { openProxy } from './silent-proxy.ts';
import type { Site } from './site.ts';
import type { Tabs } from './tabs.ts';
import { openSite, openTabs } from './tabs.ts';

const nightMs = 20 * 60_000;

interface Sleeper {
  readonly talk: Conversation;
  readonly wake: () => Promise<void>;
}

/** Opens a session on a page that falls asleep. What happens next happens without it. */
async function fallAsleep(tabs: Tabs, url: string): Promise<Sleeper> {
  const page = await tabs.context.newPage();
  await page.clock.install();
  await page.goto(url);
  const talk = findConversation(page);
  await talk.waitForStatus('Completed');
  const thaw = await tabs.freeze(page);
  return {
    talk,
    wake: async () => {
      await thaw();
      await page.clock.fastForward(nightMs);
      // A browser says so when a page is seen again.
      await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    },
  };
}

async function expectCurrent(site: Site, { talk, wake }: Sleeper): Promise<void> {
  await wake();
  const since = performance.now();
  await expect.poll(() => talk.countText('word-39'), { timeout: 40_000 }).toBeGreaterThan(0);
  await talk.waitForStatus('Completed');
  console.log(`A page that slept for 20 minutes was current ${Math.round(performance.now() - since)} ms after it woke up.`);
  expect(await talk.countText(toWords(40))).toBe(1);
  await talk.send('say good morning');
  await expect.poll(() => talk.countText('good morning')).toBeGreaterThanOrEqual(2);
  // A stream that was replaced is counted until the server notices.
  await expect.poll(async () => (await site.count()).openStreams, { timeout: 20_000 }).toBe(1);
}

describe('a page that wakes up with an expired token', () => {
  it('is current again if its connection was cut', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    // A request that was under way when the token expired is refused once, and asks for another token.
    tabs.allow(/ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|401/);
    const id = await site.newSession('say hello', { until: 'rest' });
    const sleeper = await fallAsleep(tabs, `${site.url}/s/${id}`);
    await site.expireTokens();
    await site.cut();
    await site.request(`/sessions/${id}/messages`, { text: 'write 40', until: 'rest' });
    await expectCurrent(site, sleeper);
  });

  it('is current again if its connection died without a word', async () => {
    const site = await openSite();
    const proxy = await openProxy(site.url);
    const tabs = await openTabs();
    const id = await site.newSession('say hello', { until: 'rest' });
    const sleeper = await fallAsleep(tabs, `${proxy.url}/s/${id}`);
    proxy.silence();
    await site.expireTokens();
    await site.cut();
    await site.request(`/sessions/${id}/messages`, { text: 'write 40', until: 'rest' });
    await expectCurrent(site, sleeper);
  });
});
