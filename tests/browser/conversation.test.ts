// The page in a real browser: what a person sees of an answer, of tools and of limits.
import { describe, expect, it } from 'vitest';
import { toWords } from './agents.ts';
import { openSession, startSession } from './conversation.ts';
import { openSite, openTabs } from './tabs.ts';

describe('an answer', () => {
  it('is shown while it is written', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await startSession(tabs, site);
    await talk.send('write 40 middle');
    await talk.waitForText('word-19');
    await talk.waitForStatus('Running');
    expect(await talk.countText('word-20')).toBe(0);
    expect(await talk.countText('write 40 middle')).toBe(1);
    const countMissing = await talk.watchText(toWords(20));
    site.open('middle');
    await talk.waitForText('word-39');
    await talk.waitForStatus('Completed');
    expect(await talk.countText(toWords(40))).toBe(1);
    expect(await countMissing()).toBe(0);
    await talk.page.getByRole('navigation', { name: 'Sessions' }).getByRole('link').first().waitFor();
  });

  it('loses nothing when the page is reloaded in the middle of it', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const id = await site.newSession('write 40 middle');
    const talk = await openSession(tabs, site, id);
    await talk.waitForText('word-19');
    await talk.page.reload();
    await talk.waitForText('word-19');
    expect(await talk.countText(toWords(20))).toBe(1);
    site.open('middle');
    await talk.waitForStatus('Completed');
    await talk.waitForText('word-39');
    expect(await talk.countText(toWords(40))).toBe(1);
  });

  it('keeps what was written when it is stopped', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const id = await site.newSession('write 40 middle');
    const talk = await openSession(tabs, site, id);
    await talk.waitForText('word-19');
    await talk.getButton('Stop').click();
    await talk.waitForStatus('Stopped');
    await expect.poll(() => talk.countText(toWords(20))).toBe(1);
    await talk.page.reload();
    await talk.waitForStatus('Stopped');
    await talk.waitForText('word-19');
    expect(await talk.countText(toWords(20))).toBe(1);
    expect(await talk.countText('word-20')).toBe(0);
  });
});

describe('a tool', () => {
  it('that failed says so, with the reason', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await openSession(tabs, site, await site.newSession('find nobody'));
    await talk.waitForStatus('Completed');
    const text = await talk.getTool('look_up').innerText();
    expect(text).toMatch(/failed/i);
    expect(text).toContain('The directory does not know nobody.');
    await talk.waitForText('That is what I found about nobody.');
  });

  it('that waits for an answer gets it from the person', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await openSession(tabs, site, await site.newSession('date'));
    const question = talk.getQuestion('pick_date');
    await question.getByRole('textbox', { name: 'Answer' }).fill('2026-12-24');
    await question.getByRole('button', { name: 'Send answer' }).click();
    await talk.waitForText('The date is 2026-12-24.');
    await talk.waitForStatus('Completed');
    expect(await question.count()).toBe(0);
  });
});

describe('a limit', () => {
  it('that ended the run is named, with a meter and with what to do next', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await openSession(tabs, site, await site.newSession('dig'));
    await talk.waitForText('Stopped: the step limit was reached (4 of 4)');
    await talk.waitForStatus('Stopped');
    await talk.why.getByText('Decided by').first().waitFor();
    await talk.why.getByText('Next:').first().waitFor();
    await talk.why.getByRole('meter', { name: 'Steps: 4 of 4' }).first().waitFor();
  });

  it('at which the run waits is raised by the person', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await openSession(tabs, site, await site.newSession('dig', { agent: 'careful' }));
    const limit = talk.page.getByRole('group', { name: /^Limit:/ });
    await limit.waitFor();
    expect(await talk.getTool('look_up').count()).toBe(3);
    await limit.getByRole('button', { name: 'Grant more' }).click();
    await expect.poll(() => talk.getTool('look_up').count()).toBeGreaterThan(3);
  });
});
