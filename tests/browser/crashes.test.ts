// kill -9 in mid-answer: the page shows the answer whole in the end, and nothing twice.
import { describe, expect, it } from 'vitest';
import { toWords } from './agents.ts';
import { openSession } from './conversation.ts';
import { openSite, openTabs } from './tabs.ts';

const unreachable = /ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)/;

describe('the page', () => {
  it('shows an answer whole and once when the worker is killed in the middle of it', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await openSession(tabs, site, await site.newSession('write 40 middle'));
    await talk.waitForText('word-19');
    await site.kill('worker');
    await site.start('worker');
    site.open('middle');
    await talk.waitForText('word-39');
    await talk.waitForStatus('Completed');
    expect([await talk.countText(toWords(40)), await talk.countText('word-0')]).toEqual([1, 1]);
    await talk.page.reload();
    await talk.waitForText('word-39');
    expect([await talk.countText(toWords(40)), await talk.countText('word-0')]).toEqual([1, 1]);
  });

  it('shows an answer whole and once when the web server is killed in the middle of it, and says that it reconnects', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    tabs.allow(unreachable);
    const talk = await openSession(tabs, site, await site.newSession('write 40 middle'));
    await talk.waitForText('word-19');
    await site.kill('web');
    await talk.waitForStatus('Reconnecting');
    expect(await talk.countText(toWords(20))).toBe(1);
    site.open('middle');
    await site.start('web');
    await talk.waitForText('word-39');
    await talk.waitForStatus('Completed');
    expect([await talk.countText(toWords(40)), await talk.countText('word-0')]).toEqual([1, 1]);
  });

  it('keeps what a person typed when the web server is gone', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    tabs.allow(unreachable);
    const talk = await openSession(tabs, site, await site.newSession('say hello'));
    await talk.waitForText('hello');
    await site.kill('web');
    await talk.send('say this is important');
    const box = talk.page.getByRole('textbox', { name: 'Message' });
    await expect.poll(() => box.inputValue()).toBe('say this is important');
    await site.start('web');
    await box.press('Enter');
    await expect.poll(() => talk.countText('this is important')).toBeGreaterThanOrEqual(2);
  });
});
