import { describe, expect, it } from 'vitest';
import { openAgUiSite } from './stage.ts';

describe('a run over AG-UI', () => {
  it('streams the text of the answer and finishes', async () => {
    const site = await openAgUiSite();
    const page = site.openPage('one');
    const run = await page.run({ text: 'write Good morning Ann' });
    console.log(JSON.stringify(run.events, null, 1));
    expect(run.outcome).toBe('success');
  });
  it('tools', async () => {
    const site = await openAgUiSite();
    const page = site.openPage('one');
    const run = await page.run({ text: 'look 1 & pay 2; say End' });
    console.log(JSON.stringify(run.events, null, 1));
    console.log(JSON.stringify(page.agent.messages, null, 1));
    expect(run.outcome).toBe('interrupt');
  });
});
