// What axe finds on a page.
import type { Page } from './playwright.ts';
import { loadAxe } from './playwright.ts';

/** Finds faults that shut people out; each as a line with the element. */
export async function findFaults(page: Page): Promise<readonly string[]> {
  const AxeBuilder = await loadAxe();
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}. ${html.slice(0, 200)} ${failureSummary}`),
    );
}
