// What a person finds on the page, by the roles and names that a screen reader reads out.
import type { Locator, Page } from './playwright.ts';
import type { Site } from './site.ts';
import type { Tabs } from './tabs.ts';

export interface Conversation {
  readonly page: Page;
  /** Everything that was said. */
  readonly log: Locator;
  /** One line about the state of the session. */
  readonly status: Locator;
  /** The panel that explains. */
  readonly why: Locator;
  /** Types a message and sends it with Enter. */
  send(text: string): Promise<void>;
  getButton(name: string): Locator;
  getTool(name: string): Locator;
  getApproval(name: string): Locator;
  getQuestion(name: string): Locator;
  /** Waits until the conversation shows a text. */
  waitForText(text: string): Promise<void>;
  /** Waits until the status line shows a text. */
  waitForStatus(text: string | RegExp): Promise<void>;
  /** Watches a text that is shown; returns the number of frames without it when it is called. */
  watchText(text: string): Promise<() => Promise<number>>;
  /** Counts how often the conversation shows a text. */
  countText(text: string): Promise<number>;
}

/** Finds the parts of a page that shows a session. */
export function findConversation(page: Page): Conversation {
  const log = page.getByRole('log', { name: 'Conversation' });
  const status = page.getByRole('status', { name: 'Status' });
  return {
    page,
    log,
    status,
    why: page.getByRole('complementary', { name: 'Why' }),
    send: async (text) => {
      const box = page.getByRole('textbox', { name: 'Message' });
      await box.fill(text);
      await box.press('Enter');
    },
    getButton: (name) => page.getByRole('button', { name, exact: true }),
    getTool: (name) => log.getByRole('group', { name: `Tool ${name}` }),
    getApproval: (name) => page.getByRole('group', { name: `Approval: ${name}` }),
    getQuestion: (name) => page.getByRole('group', { name: `Question: ${name}` }),
    waitForText: (text) => log.getByText(text).first().waitFor(),
    waitForStatus: (text) => status.filter({ hasText: text }).waitFor(),
    watchText: async (text) => {
      await page.evaluate(`(() => {
        const watch = { missing: 0, frames: 0 };
        window.watch = watch;
        const look = () => {
          watch.frames += 1;
          if (!document.querySelector('[role=log]')?.innerText.includes(${JSON.stringify(text)})) watch.missing += 1;
          requestAnimationFrame(look);
        };
        look();
      })()`);
      return async () => Number(await page.evaluate('watch.missing'));
    },
    countText: async (text) => (await log.innerText()).split(text).length - 1,
  };
}

/** Begins a session with the button of the page. The first message creates it. */
export async function startSession(tabs: Tabs, site: Site): Promise<Conversation> {
  const page = await tabs.open(site.url);
  await page.getByRole('button', { name: 'New session' }).click();
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  return findConversation(page);
}

/** Opens a session in a new tab. */
export async function openSession(tabs: Tabs, site: Site, id: string): Promise<Conversation> {
  const conversation = findConversation(await tabs.open(`${site.url}/s/${id}`));
  await conversation.log.waitFor();
  return conversation;
}
