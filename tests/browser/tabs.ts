// Tabs of one person's browser, for a test.
// Owns:     a browser context, and everything in it that must not happen: errors, violations of the policy, requests to other hosts.
// Does not: know what is on a page.
import { join } from 'node:path';
import { afterAll, expect, inject, onTestFinished } from 'vitest';
import type { Browser, BrowserContext, CdpSession, ContextOptions, Page } from './playwright.ts';
import { loadPlaywright } from './playwright.ts';
import type { Site } from './site.ts';
import { startSite } from './site.ts';

let connection: Promise<Browser> | undefined;
const connectBrowser = (): Promise<Browser> =>
  (connection ??= loadPlaywright().then((playwright) => playwright.connect(inject('browserEndpoint'))));

/** Ends the connection to the browser with the tests of a file. */
afterAll(async () => {
  await (await connection)?.close();
  connection = undefined;
});

export interface Tabs {
  readonly context: BrowserContext;
  /** Opens a tab. */
  open(url: string): Promise<Page>;
  /** Accepts complaints that the test provokes, such as a server that cannot be reached. */
  allow(complaint: RegExp): void;
  /** Complaints so far. */
  readonly complaints: readonly string[];
  /** Suspends a tab as a browser does with one in the background: no timer, no message, no event. Returns how to wake it up. */
  freeze(page: Page): Promise<() => Promise<void>>;
}

const noteViolations = `addEventListener('securitypolicyviolation', (event) =>
  console.error('Policy violated: ' + event.violatedDirective + ' ' + event.blockedURI));`;

function watchPage(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    if (['error', 'warning', 'assert'].includes(message.type())) complaints.push(`console.${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`));
}

const isLocal = (url: string): boolean => ['127.0.0.1', 'localhost', ''].includes(new URL(url).hostname);

async function takePictures(context: BrowserContext, name: string): Promise<void> {
  const file = name.replace(/[^a-z0-9]+/gi, '-').slice(0, 80);
  for (const [index, page] of context.pages().entries())
    await page.screenshot({ path: join(inject('pictures'), `failed-${file}-${index}.png`) }).catch(() => undefined);
}

async function freeze(context: BrowserContext, page: Page): Promise<() => Promise<void>> {
  const session: CdpSession = await context.newCDPSession(page);
  await session.send('Debugger.enable');
  await session.send('Debugger.pause');
  return async () => {
    await session.send('Debugger.resume');
  };
}

/** Opens a browser of its own; it closes with the test, which fails if anything was wrong in it. */
export async function openTabs(options: ContextOptions = {}): Promise<Tabs> {
  const context = await (await connectBrowser()).newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(15_000);
  await context.addInitScript(noteViolations);
  const complaints: string[] = [];
  const allowed: RegExp[] = [];
  context.on('page', (page) => watchPage(page, complaints));
  context.on('request', (request) => {
    if (!isLocal(request.url())) complaints.push(`request to ${request.url()}`);
  });
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await takePictures(context, task.name);
    await context.close();
    expect(complaints.filter((complaint) => !allowed.some((pattern) => pattern.test(complaint)))).toEqual([]);
  });
  return {
    context,
    complaints,
    allow: (complaint) => void allowed.push(complaint),
    open: async (url) => {
      const page = await context.newPage();
      await page.goto(url);
      return page;
    },
    freeze: (page) => freeze(context, page),
  };
}

/** Starts a web server and a worker for a test; they end with it. */
export async function openSite(): Promise<Site> {
  const site = await startSite();
  onTestFinished(() => site.end());
  return site;
}
