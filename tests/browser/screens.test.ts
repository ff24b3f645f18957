// Every screen, as it is seen in the light, in the dark and on a phone: no serious fault for people who cannot see it, and a picture of it.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findFaults } from './accessibility.ts';
import { findConversation } from './conversation.ts';
import type { ContextOptions, Page } from './playwright.ts';
import type { Site } from './site.ts';
import { startSite } from './site.ts';
import { openTabs } from './tabs.ts';

const answer = [
  '## Three partners in Bremen',
  'They have **three leads** in all; see `look_up`:',
  '- Nordwind, two leads\n- Hansa, one lead\n- Weser, none',
  '| partner | leads |\n|---|---|\n| Nordwind | 2 |\n| Hansa | 1 |',
  '```ts\nconst leads = 3;\n```',
  '> Ask before you delete one. [The rules](https://example.com/rules)',
].join('\n\n');

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 } as const;
const modes: Readonly<Record<string, ContextOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { colorScheme: 'light', ...phone },
  'phone-dark': { colorScheme: 'dark', ...phone },
};

describe('screens', () => {
  let site: Site;
  const ids = { conversation: '', approval: '', why: '', failed: '', grant: '' };
  beforeAll(async () => {
    site = await startSite();
    ids.why = await site.newSession('dig', { until: 'rest' });
    ids.failed = await site.newSession('find nobody', { until: 'rest' });
    ids.grant = await site.newSession('dig', { agent: 'careful', until: 'rest' });
    ids.approval = await site.newSession('refund 17', { until: 'rest' });
    ids.conversation = await site.newSession('find Nordwind', { until: 'rest' });
    await site.request(`/sessions/${ids.conversation}/messages`, { text: `say ${answer}`, until: 'rest' });
  });
  afterAll(() => site.end());

  /** Opens each screen, and waits until it shows what it is about. */
  const screens: Readonly<Record<string, (page: Page) => Promise<void>>> = {
    home: async (page) => {
      await page.goto(site.url);
      await page.getByRole('heading', { name: 'What should the agent do?' }).waitFor();
    },
    conversation: async (page) => {
      await page.goto(`${site.url}/s/${ids.conversation}`);
      await findConversation(page).log.getByRole('heading', { name: 'Three partners in Bremen' }).last().waitFor();
    },
    failed: async (page) => {
      await page.goto(`${site.url}/s/${ids.failed}`);
      await findConversation(page).waitForText('The directory does not know nobody.');
    },
    approval: async (page) => {
      await page.goto(`${site.url}/s/${ids.approval}`);
      await findConversation(page).getApproval('refund').getByText('The parcel was lost on its way.').waitFor();
    },
    grant: async (page) => {
      await page.goto(`${site.url}/s/${ids.grant}`);
      await page.getByText('Grant more, or end here, before you send another message.').waitFor();
      await page.getByRole('textbox', { name: 'Message' }).fill('And what about Weser?');
    },
    why: async (page) => {
      await page.goto(`${site.url}/s/${ids.why}`);
      const talk = findConversation(page);
      await talk.waitForText('Stopped: the step limit was reached (4 of 4)');
      if (!(await talk.why.isVisible())) await talk.getButton('Why').click();
      await talk.why.getByRole('meter', { name: 'Steps: 4 of 4' }).first().waitFor();
    },
    inbox: async (page) => {
      await page.goto(`${site.url}/inbox`);
      await page.getByRole('heading', { name: 'Inbox' }).waitFor();
      await page.locator('main').getByText('refund').first().waitFor();
    },
  };

  describe.each(Object.entries(modes))('in mode %s', (mode, options) => {
    it.each(Object.entries(screens))('has no serious fault in %s', async (name, open) => {
      const tabs = await openTabs(options);
      const page = await tabs.context.newPage();
      await open(page);
      await page.screenshot({ path: join(inject('pictures'), `${name}-${mode}.png`), animations: 'disabled' });
      expect(await findFaults(page)).toEqual([]);
    });
  });
});
