// Approvals on the page: read, given, changed, refused, and answered from another tab.
import { describe, expect, it } from 'vitest';
import type { Conversation } from './conversation.ts';
import { openSession } from './conversation.ts';
import { openSite, openTabs } from './tabs.ts';

const done = 'Done. Paid 40 EUR for order 17.';

/** Returns the milliseconds until all of them show the answer and nothing to decide. */
async function measureUpdate(talks: readonly Conversation[], since: number): Promise<number> {
  await Promise.all(
    talks.map(async (talk) => {
      await talk.waitForText(done);
      await talk.getApproval('refund').waitFor({ state: 'detached' });
      await talk.waitForStatus('Completed');
    }),
  );
  return performance.now() - since;
}

describe('an approval', () => {
  it('shows all arguments, and lets the call run when it is given', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await openSession(tabs, site, await site.newSession('refund 17'));
    await talk.waitForStatus('Waiting for approval');
    await talk.page.getByText('A message gives up the waiting call.').waitFor();
    const approval = talk.getApproval('refund');
    await approval.getByText('The parcel was lost on its way.').waitFor();
    const text = await approval.innerText();
    for (const part of ['17', '40']) expect(text).toContain(part);
    await approval.getByRole('button', { name: 'Approve', exact: true }).click();
    await talk.waitForText(done);
    await approval.waitFor({ state: 'detached' });
    await talk.page.reload();
    await talk.waitForText(done);
    expect(await approval.count()).toBe(0);
  });

  it('runs the call with other arguments if the person changes them', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await openSession(tabs, site, await site.newSession('refund 17'));
    const approval = talk.getApproval('refund');
    await approval.getByRole('button', { name: 'Edit' }).click();
    const box = approval.getByRole('textbox', { name: 'Arguments' });
    const args = JSON.parse(await box.inputValue()) as { readonly euros: number };
    expect(args.euros).toBe(40);
    const send = approval.getByRole('button', { name: 'Approve with changes' });
    await box.fill('{ "order": 17, ');
    await expect.poll(async () => (await approval.innerText()).includes('JSON') || !(await send.isEnabled())).toBe(true);
    await box.fill(JSON.stringify({ ...args, euros: 25 }));
    await send.click();
    await talk.waitForText('Done. Paid 25 EUR for order 17.');
    await talk.getTool('refund').getByText('Approved with changes by ann').waitFor();
  });

  it('tells the agent the reason when it is refused', async () => {
    const site = await openSite();
    const tabs = await openTabs();
    const talk = await openSession(tabs, site, await site.newSession('refund 17'));
    const approval = talk.getApproval('refund');
    await approval.getByRole('button', { name: 'Reject', exact: true }).click();
    await approval.getByRole('textbox', { name: 'Reason' }).fill('The customer kept it.');
    await approval.getByRole('button', { name: 'Reject call' }).click();
    await talk.waitForText('The customer kept it.');
    await talk.waitForStatus('Completed');
    expect(await talk.countText('Paid 40 EUR')).toBe(0);
  });

  it('given in one tab is seen in the others and in another browser within two seconds', async () => {
    const site = await openSite();
    const [tabs, others] = [await openTabs(), await openTabs()];
    const id = await site.newSession('refund 17');
    const first = await openSession(tabs, site, id);
    const second = await openSession(tabs, site, id);
    const third = await openSession(others, site, id);
    const talks = [first, second, third];
    for (const talk of talks) await talk.getApproval('refund').waitFor();
    await second.getApproval('refund').getByRole('button', { name: 'Approve', exact: true }).click();
    const ms = await measureUpdate(talks, performance.now());
    console.log(`Two tabs and another browser were up to date ${Math.round(ms)} ms after an approval.`);
    expect(ms).toBeLessThan(2000);
  });
});
