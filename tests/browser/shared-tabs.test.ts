// A view without a framework, in a real browser: real locks, real channels, real connections.
import { describe, expect, it } from 'vitest';
import { toWords } from './agents.ts';
import type { Page } from './playwright.ts';
import { openSite, openTabs } from './tabs.ts';

const readText = async (page: Page): Promise<string> => String(await page.evaluate('document.body.textContent'));
const waitForText = (page: Page, text: string): Promise<unknown> =>
  page.waitForFunction(`document.body.textContent.includes(${JSON.stringify(text)})`);
const countText = async (page: Page, text: string): Promise<number> => (await readText(page)).split(text).length - 1;

describe('tabs of one session', () => {
  it('share one connection, eight of them, though a browser allows six', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const id = await site.newSession('write 40 middle');
    const pages: Page[] = [];
    for (let n = 0; n < 8; n += 1) pages.push(await tabs.open(`${site.url}/bare?session=${id}`));
    for (const page of pages) await waitForText(page, 'word-19');
    expect(await site.count()).toMatchObject({ openStreams: 1, streams: 1 });
    site.open('middle');
    for (const page of pages) await waitForText(page, 'completed / 0 gaps');
    for (const page of pages) expect(await countText(page, toWords(40))).toBe(1);
    expect(await site.count()).toMatchObject({ openStreams: 1, streams: 1 });
  });

  it('go on when the tab that connects is closed', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const id = await site.newSession('write 40 middle');
    const first = await tabs.open(`${site.url}/bare?session=${id}`);
    await waitForText(first, 'live / in_progress');
    const second = await tabs.open(`${site.url}/bare?session=${id}`);
    await waitForText(second, 'shared / in_progress');
    await waitForText(second, 'word-19');
    await first.close();
    await waitForText(second, 'live / in_progress');
    site.open('middle');
    await waitForText(second, 'completed / 0 gaps');
    expect(await countText(second, toWords(40))).toBe(1);
    await expect.poll(async () => (await site.count()).openStreams).toBe(1);
  });

  it('go on when the tab that connects is frozen, and it joins them when it wakes up', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const id = await site.newSession('write 40 middle');
    const first = await tabs.open(`${site.url}/bare?session=${id}`);
    await waitForText(first, 'live / in_progress');
    const second = await tabs.open(`${site.url}/bare?session=${id}`);
    await waitForText(second, 'shared / in_progress');
    await waitForText(second, 'word-19');
    const wake = await tabs.freeze(first);
    site.open('middle');
    // A minute without a word from the other tab.
    await second.evaluate('fastForward(61_000)');
    await waitForText(second, 'live / completed / 0 gaps');
    expect(await countText(second, toWords(40))).toBe(1);
    await wake();
    await waitForText(first, 'shared / completed / 0 gaps');
    expect(await countText(first, toWords(40))).toBe(1);
    await expect.poll(async () => (await site.count()).openStreams).toBe(1);
  });
});

describe('a view', () => {
  it('comes back by itself when the network is back', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    tabs.allow(/ERR_INTERNET_DISCONNECTED|ERR_INCOMPLETE_CHUNKED_ENCODING/);
    const id = await site.newSession('write 40 middle');
    const page = await tabs.open(`${site.url}/bare?session=${id}`);
    await waitForText(page, 'word-19');
    await tabs.context.setOffline(true);
    await site.cut();
    await waitForText(page, 'waiting / in_progress');
    site.open('middle');
    await tabs.context.setOffline(false);
    await waitForText(page, 'live / completed / 0 gaps');
    expect(await countText(page, toWords(40))).toBe(1);
  });

  it('asks for another token when the one that it had has expired', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    tabs.allow(/ERR_INCOMPLETE_CHUNKED_ENCODING/);
    const id = await site.newSession('write 40 middle');
    const page = await tabs.open(`${site.url}/bare?session=${id}`);
    await waitForText(page, 'word-19');
    const { tokens } = await site.expireTokens();
    await site.cut();
    site.open('middle');
    await waitForText(page, 'live / completed / 0 gaps');
    expect(await countText(page, toWords(40))).toBe(1);
    expect((await site.count()).tokens).toBeGreaterThan(tokens);
  });
});
