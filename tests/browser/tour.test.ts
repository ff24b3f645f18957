// The tour of the demo, from its first act to its last, as a person takes it.
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { findFaults } from './accessibility.ts';
import type { Conversation } from './conversation.ts';
import { findConversation } from './conversation.ts';
import { startDemo } from './demo.ts';
import type { ContextOptions, Locator, Page } from './playwright.ts';
import { openTabs } from './tabs.ts';

/** Things that a person does and sees in each act. */
const acts: readonly (readonly [title: string, play: (talk: Conversation) => Promise<void>])[] = [
  [
    'A tool fails',
    async (talk) => {
      await talk.getTool('search_entities').first().waitFor();
      await talk.waitForStatus(/Failed|Stopped/);
    },
  ],
  [
    'A limit is reached',
    async (talk) => {
      const limit = talk.page.getByRole('group', { name: /^Limit:/ });
      await limit.getByRole('button', { name: 'Grant more' }).click();
      await limit.waitFor({ state: 'detached' });
    },
  ],
  [
    'A call needs your approval',
    async (talk) => {
      await talk.getApproval('delete_program_lead').getByRole('button', { name: 'Approve', exact: true }).click();
      await talk.waitForStatus('Completed');
    },
  ],
  [
    'The worker is killed in mid-answer',
    async (talk) => {
      await talk.waitForText('Berlin');
      // The report is written twice, at the pace of a reader.
      await talk.status.filter({ hasText: 'Completed' }).waitFor({ timeout: 45_000 });
      const said = await talk.log.innerText();
      // The report is there once: nothing of the attempt that was killed is left.
      const [line = ''] = said.split('\n').filter((each) => each.length > 60);
      expect(line).not.toBe('');
      expect(said.split(line).length - 1).toBe(1);
    },
  ],
  [
    'Nine hours later',
    async (talk) => {
      await talk.getApproval('delete_program_lead').getByRole('button', { name: 'Approve', exact: true }).click();
      await talk.waitForStatus('Completed');
    },
  ],
  [
    'Why',
    async (talk) => {
      await talk.why.getByText('Decided by').first().waitFor();
      await talk.why.getByRole('meter').first().waitFor();
    },
  ],
];

async function takeAct(page: Page, guide: Locator, index: number): Promise<void> {
  const [title = '', play] = acts[index] ?? [];
  await guide.getByRole('heading', { name: title }).waitFor();
  await guide.getByText(`Step ${index + 1} of ${acts.length}`).waitFor();
  await guide.getByText('Starting…').waitFor({ state: 'detached', timeout: 40_000 });
  await play?.(findConversation(page));
}

const modes: Readonly<Record<string, ContextOptions>> = {
  light: { colorScheme: 'light' },
  'phone-dark': { colorScheme: 'dark', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
};

describe('the tour', () => {
  it.each(Object.entries(modes))(
    'can be taken to its end, in mode %s',
    async (mode, options) => {
      const url = await startDemo();
      const tabs = await openTabs(options);
      const page = await tabs.open(url);
      await page.getByRole('button', { name: 'Take the tour' }).click();
      const guide = page.getByRole('region', { name: 'Tour' });
      for (const index of acts.keys()) {
        await takeAct(page, guide, index);
        await page.screenshot({ path: join(inject('pictures'), `tour-${index + 1}-${mode}.png`), animations: 'disabled' });
        expect(await findFaults(page)).toEqual([]);
        if (index < acts.length - 1) await guide.getByRole('button', { name: 'Next' }).click();
      }
      // On a phone, the panel lies over the guide.
      if (options.isMobile === true) await page.keyboard.press('Escape');
      await guide.getByRole('button', { name: 'End tour' }).click();
      await guide.waitFor({ state: 'detached' });
    },
    180_000,
  );

  it('keeps its place through a reload, and leads nowhere once it has ended', async () => {
    const url = await startDemo();
    const page = await (await openTabs()).open(url);
    const start = page.getByRole('button', { name: 'Take the tour' });
    const guide = page.getByRole('region', { name: 'Tour' });
    await start.click();
    await takeAct(page, guide, 0);
    await page.reload();
    await guide.getByText(`Step 1 of ${acts.length}`).waitFor();
    await guide.getByRole('button', { name: 'Next' }).click();
    await takeAct(page, guide, 1);
    await page.evaluate(`(() => {
      const send = window.fetch;
      window.fetch = async (address, init) => {
        if (String(address).endsWith('/tour/approval')) await new Promise((resolve) => { window.answer = resolve; });
        return send(address, init);
      };
    })()`);
    await guide.getByRole('button', { name: 'Next' }).click();
    await guide.getByText('Starting…').waitFor();
    await expect.poll(() => page.evaluate('typeof window.answer')).toBe('function');
    const before = page.url();
    await guide.getByRole('button', { name: 'End tour' }).click();
    await page.evaluate('window.answer()');
    await page.getByRole('navigation', { name: 'Sessions' }).getByText('Delete lead 2').waitFor();
    expect([page.url(), await guide.count()]).toEqual([before, 0]);
  });
});
