// Hostile answers: nothing in them runs, and nothing is fetched for them. A request to another host fails every test here.
import { describe, expect, it } from 'vitest';
import { openSession } from './conversation.ts';
import { openSite, openTabs } from './tabs.ts';

const hostile = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1">',
  '<svg onload="window.hacked = 1"></svg>',
  '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>',
  '[click](javascript:window.hacked=1)',
  '[click too](JaVaScRiPt:window.hacked=1)',
  '[data](data:text/html,<script>window.hacked=1</script>)',
  '![picture](http://evil.example/pixel.png)',
  '![picture](//evil.example/pixel.png)',
  '<a href="javascript:window.hacked=1">raw</a>',
  '<style>body { background: url(http://evil.example/style.png) }</style>',
  '<form action="http://evil.example"><button>Send</button></form>',
  '[fine](https://example.com/page)',
];

describe('an answer', () => {
  it('with hostile Markdown runs nothing and loads nothing', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await openSession(tabs, site, await site.newSession(`say ${hostile.join('\n\n')}\n\nThe end.`));
    await talk.waitForStatus('Completed');
    await expect.poll(() => talk.countText('The end.')).toBe(2);
    const links = await talk.page.evaluate('[...document.querySelectorAll("[role=log] a")].map((link) => link.getAttribute("href"))');
    expect(links).toContain('https://example.com/page');
    for (const link of links as string[]) expect(link).toMatch(/^(https?:|mailto:|\/)/);
    expect(await talk.log.locator('img, iframe, script, style, form, object, embed').count()).toBe(0);
    expect(await talk.page.evaluate('window.hacked')).toBeUndefined();
  });
});
