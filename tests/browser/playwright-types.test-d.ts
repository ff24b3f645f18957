// The real packages fit what the tests expect of them. Checked by `npm run test:browser`, which installs them.
import type { AxeBuilder as RealAxeBuilder } from '@axe-core/playwright';
import type * as realChromium from '@sparticuz/chromium';
import type { Browser as RealBrowser, CDPSession, chromium, Page as RealPage } from 'playwright-core';
import type { Browser, BrowserContext, CdpSession, ChromiumPackage, Page, Playwright } from './playwright.ts';

declare const page: RealPage;
declare const browser: RealBrowser;
declare const playwright: typeof chromium;
declare const session: CDPSession;
declare const packed: typeof realChromium;
declare const axe: RealAxeBuilder;

// Methods that take a page take the real one.
type Context = Omit<BrowserContext, 'newCDPSession' | 'newPage' | 'pages' | 'on'>;
page satisfies Omit<Page, 'context'>;
page.context() satisfies Context;
browser satisfies Pick<Browser, 'version' | 'close'> & { newContext: (...args: Parameters<Browser['newContext']>) => Promise<Context> };
playwright satisfies Pick<Playwright, 'launchServer'>;
session satisfies CdpSession;
packed satisfies ChromiumPackage;
(await axe.analyze()).violations satisfies readonly { readonly id: string; readonly help: string }[];
