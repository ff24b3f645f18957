// What goes wrong around a page: no worker, a server that fails, a browser that refuses, and texts that do not fit.
import { describe, expect, it } from 'vitest';
import { findConversation, openSession, startSession } from './conversation.ts';
import { openSite, openTabs } from './tabs.ts';

const word = 'x'.repeat(900);
const cells = (text: string): string => `|${Array.from({ length: 50 }, (_, n) => `${text}${n}`).join('|')}|`;
const wide = `say ${word}\n\n${cells('c')}\n${cells('--')}\n${cells('v')}\n\n${'> '.repeat(30)}deep`;

describe('while no worker runs', () => {
  it('an approval says that it is stored, and cannot be given twice by accident', async () => {
    const site = await openSite();
    const talk = await openSession(await openTabs(), site, await site.newSession('refund 17'));
    const approve = talk.getButton('Approve');
    await approve.waitFor();
    await site.kill('worker');
    await approve.click();
    await talk.getApproval('refund').getByText('Your decision is stored.').waitFor();
    expect(await approve.isEnabled()).toBe(false);
    await site.start('worker');
    await talk.waitForText('Done. Paid 40 EUR for order 17.');
  });

  it('a message is shown as stored', async () => {
    const site = await openSite();
    const talk = await startSession(await openTabs(), site);
    await site.kill('worker');
    await talk.send('say hello');
    await talk.waitForText('No worker has taken it up yet');
    await talk.waitForText('say hello');
    await site.start('worker');
    await talk.waitForStatus('Completed');
    expect(await talk.countText('No worker has taken it up yet')).toBe(0);
  });
});

describe('a session that refuses a message', () => {
  it('does not offer Send, says why, and keeps what is typed across a reload', async () => {
    const site = await openSite();
    const id = await site.newSession('dig', { agent: 'careful', until: 'rest' });
    const talk = await openSession(await openTabs(), site, id);
    await talk.page.getByText('Grant more, or end here, before you send another message.').waitFor();
    expect(await talk.getButton('Send').isEnabled()).toBe(false);
    await talk.send('say hello');
    const box = talk.page.getByRole('textbox', { name: 'Message' });
    expect(await box.inputValue()).toBe('say hello');
    await talk.page.reload();
    await talk.page.getByText('Grant more, or end here, before you send another message.').waitFor();
    expect(await box.inputValue()).toBe('say hello');
    await talk.getButton('End here').click();
    await expect.poll(() => talk.getButton('Send').isEnabled()).toBe(true);
    await talk.getButton('Send').click();
    await talk.waitForText('hello');
    await talk.waitForStatus('Completed');
    expect(await box.inputValue()).toBe('');
  });

  it('gives all messages back that are refused at once', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    tabs.allow(/409/);
    const talk = await openSession(tabs, site, await site.newSession('dig last', { agent: 'careful' }));
    await talk.waitForText('word-1');
    const texts = ['one', 'two', 'three', 'four', 'five', 'six'].map((word) => `say ${word}`);
    for (const text of texts) {
      await talk.send(text);
      await talk.waitForText(text);
    }
    const address = talk.page.url();
    await talk.page.goto('about:blank');
    site.open('last');
    await talk.page.goto(address);
    await talk.page.getByText('Your message was refused.').waitFor();
    const box = talk.page.getByRole('textbox', { name: 'Message' });
    await expect.poll(async () => (await box.inputValue()).split('\n').toSorted()).toEqual(texts.toSorted());
  });

  it.each(['stays open', 'is loaded again'])('gives a message back that it had accepted, to a page that %s', async (page) => {
    const site = await openSite();
    const tabs = await openTabs();
    tabs.allow(/409/);
    const talk = await openSession(tabs, site, await site.newSession('dig last', { agent: 'careful' }));
    await talk.waitForText('word-1');
    await talk.send('say hello');
    await talk.waitForText('say hello');
    const box = talk.page.getByRole('textbox', { name: 'Message' });
    expect(await box.inputValue()).toBe('');
    if (page === 'is loaded again') await talk.page.reload();
    site.open('last');
    await talk.page.getByText('Your message was refused.').waitFor();
    expect(await box.inputValue()).toBe('say hello');
    expect(await talk.countText('No worker has taken it up yet')).toBe(0);
    await talk.page.reload();
    await talk.getButton('End here').click();
    await expect.poll(() => box.inputValue()).toBe('say hello');
    await expect.poll(() => talk.getButton('Send').isEnabled()).toBe(true);
    await talk.getButton('Send').click();
    await talk.waitForStatus('Completed');
    expect(await talk.countText('say hello')).toBe(1);
  });
});

describe('a person with a keyboard', () => {
  it('stays near the conversation after an approval, and in the field after starting a session', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await startSession(tabs, site);
    const readFocus = (): Promise<unknown> => talk.page.evaluate('document.activeElement.getAttribute("aria-label")');
    await expect.poll(readFocus).toBe('Message');
    await talk.page.keyboard.type('refund 17');
    await talk.page.keyboard.press('Enter');
    await expect.poll(async () => (await talk.getButton('Approve').count()) === 1 && talk.getButton('Approve').isEnabled()).toBe(true);
    await talk.getButton('Reject').focus();
    await talk.page.keyboard.press('Enter');
    await talk.getButton('Cancel').focus();
    await talk.page.keyboard.press('Enter');
    expect(await readFocus()).toBe('Approval: refund');
    await talk.getButton('Approve').focus();
    await talk.page.keyboard.press('Enter');
    await talk.waitForText('Done. Paid 40 EUR for order 17.');
    expect(await readFocus()).toBe('Conversation');
  });

  it('loses no word that is typed while a slow server answers', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    await tabs.context.addInitScript(`
      const send = window.fetch;
      window.fetch = async (address, init) => {
        if (String(address).endsWith('/messages')) await new Promise((resolve) => { window.answer = resolve; });
        return send(address, init);
      };
    `);
    const talk = await startSession(tabs, site);
    await talk.send('say one');
    await talk.page.keyboard.type(' and two');
    await expect.poll(() => talk.page.evaluate('typeof window.answer')).toBe('function');
    await talk.page.evaluate('window.answer()');
    await talk.waitForStatus('Completed');
    await expect.poll(() => talk.page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('and two');
  });
});

describe('a page', () => {
  it('works in a browser that refuses storage, channels and locks, and without HTTPS', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    await tabs.context.addInitScript(`
      const refuse = () => { throw new DOMException('Blocked.', 'SecurityError'); };
      for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get: refuse });
      window.BroadcastChannel = class { constructor() { refuse(); } };
      Object.defineProperty(Navigator.prototype, 'locks', { get: () => ({ request: async () => refuse() }) });
      delete Crypto.prototype.randomUUID;
    `);
    const talk = await startSession(tabs, site);
    await talk.send('say hello');
    await talk.waitForStatus('Completed');
  });

  it('does not say that nothing was said before it knows', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    tabs.allow(/Failed to load resource/);
    await tabs.context.addInitScript(`
      const send = window.fetch;
      window.isDown = true;
      window.fetch = (address, init) => (window.isDown && String(address).includes('/events') ? Promise.resolve(new Response('', { status: 500 })) : send(address, init));
    `);
    const talk = await openSession(tabs, site, await site.newSession('say hello', { until: 'rest' }));
    await talk.waitForText('The conversation is not loaded yet. The server answered with status 500.');
    await talk.waitForStatus('Not loaded');
    await talk.page.evaluate('window.isDown = false');
    await talk.waitForStatus('Completed');
  });

  it('lets nobody approve arguments that it could not show in full', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    tabs.allow(/Failed to load resource/);
    await tabs.context.addInitScript(`
      const send = window.fetch;
      window.isDown = true;
      window.fetch = (address, init) => (window.isDown && /waits.[^/]+$/.test(String(address)) ? Promise.resolve(new Response('', { status: 500 })) : send(address, init));
    `);
    const talk = await openSession(tabs, site, await site.newSession('refund 17'));
    const approval = talk.getApproval('refund');
    await approval.getByText('so the call cannot be approved').waitFor();
    expect([await talk.getButton('Approve').isEnabled(), await talk.getButton('Edit').isEnabled()]).toEqual([false, false]);
    await talk.page.evaluate('window.isDown = false');
    await approval.getByText('The parcel was lost on its way.').waitFor();
    expect(await talk.getButton('Approve').isEnabled()).toBe(true);
  });

  it('uses the session again whose first message was refused', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    tabs.allow(/413/);
    const page = await tabs.open(site.url);
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('y'.repeat(1_100_000));
    const fail = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('The body is larger than').waitFor();
    };
    await fail();
    await fail();
    await box.fill('say hello');
    await page.getByRole('button', { name: 'Send' }).click();
    await findConversation(page).waitForStatus('Completed');
    expect((await site.request<{ sessions: unknown[] }>('/sessions')).sessions).toHaveLength(1);
  });

  it('lists more sessions than a server sends at once', async () => {
    const site = await openSite();
    for (let n = 0; n < 9; n += 1) await Promise.all(Array.from({ length: 25 }, () => site.newSession()));
    const page = await (await openTabs()).open(site.url);
    const links = page.getByRole('navigation', { name: 'Sessions' }).locator('.session-link');
    await expect.poll(() => links.count()).toBe(50);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => links.count()).toBe(200);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => links.count()).toBe(225);
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
  });

  it('says on a small phone that it is offline, beside the button Why', async () => {
    const site = await openSite();
    const tabs = await openTabs({ viewport: { width: 320, height: 640 } });
    tabs.allow(/ERR_INTERNET_DISCONNECTED/);
    const talk = await openSession(tabs, site, await site.newSession('refund 17'));
    await talk.waitForStatus('Waiting for approval');
    await tabs.context.setOffline(true);
    await talk.waitForStatus('Offline');
    const [right, left] = (await talk.page.evaluate(
      `[document.querySelector('.connection').getBoundingClientRect().right, document.querySelector('.why-button').getBoundingClientRect().left]`,
    )) as [number, number];
    expect(right).toBeLessThan(left);
    await tabs.context.setOffline(false);
  });

  it('sends a suggestion by a click', async () => {
    const site = await openSite();
    const page = await (await openTabs()).open(site.url);
    await page.getByRole('group', { name: 'Suggestions' }).getByRole('button', { name: 'say hello there' }).click();
    const talk = findConversation(page);
    await talk.waitForStatus('Completed');
    await talk.waitForText('say hello there');
  });

  it.each([1280, 640, 320])('shows texts that do not fit without leaving the window, %d pixels wide', async (width) => {
    const site = await openSite();
    const tabs = await openTabs({ viewport: { width, height: 700 } });
    const talk = await openSession(tabs, site, await site.newSession(wide, { until: 'rest' }));
    await talk.waitForStatus('Completed');
    await talk.waitForText('deep');
    const outside = `[...document.querySelectorAll('main *, body')]
      .filter((element) => !element.closest('.table-frame > *, pre > *, .status-facts > *'))
      .map((element) => [element.className || element.tagName, Math.round(element.getBoundingClientRect().right)])
      .filter(([, right]) => right > innerWidth + 1)`;
    expect(await talk.page.evaluate(outside)).toEqual([]);
    await talk.log.press('Home');
    await talk.log.getByText('say xxx').first().waitFor();
    expect(await talk.page.evaluate(outside)).toEqual([]);
  });

  it('says in which step a process ended', async () => {
    const site = await openSite();
    const talk = await openSession(await openTabs(), site, await site.newSession('write 60 half'));
    await talk.waitForText('word-3');
    await site.kill('worker');
    site.open('half');
    await site.start('worker');
    await talk.waitForStatus('Completed');
    const words = 'The worker ended; another one took over and resumed step 1.';
    await talk.why.getByText(words).waitFor();
    await talk.waitForText(words);
  });
});
