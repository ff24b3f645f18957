// Playwright and its kin, from the packages of this folder, with what the tests use of them.
// They are loaded by name, so that the sources can be checked if they are not installed. That the real ones fit is checked by
// playwright-types.test-d.ts.

export interface RoleOptions {
  readonly name?: string | RegExp;
  readonly exact?: boolean;
  readonly includeHidden?: boolean;
}

interface WaitOptions {
  readonly state?: 'attached' | 'detached' | 'visible' | 'hidden';
  readonly timeout?: number;
}

type Role =
  | 'alert'
  | 'article'
  | 'button'
  | 'complementary'
  | 'dialog'
  | 'group'
  | 'heading'
  | 'link'
  | 'log'
  | 'meter'
  | 'navigation'
  | 'region'
  | 'status'
  | 'textbox';

interface Finder {
  getByRole(role: Role, options?: RoleOptions): Locator;
  getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
  locator(selector: string): Locator;
}

export interface Locator extends Finder {
  filter(options: { readonly hasText?: string | RegExp }): Locator;
  first(): Locator;
  last(): Locator;
  nth(index: number): Locator;
  count(): Promise<number>;
  click(options?: { readonly timeout?: number }): Promise<void>;
  fill(value: string): Promise<void>;
  focus(): Promise<void>;
  press(key: string): Promise<void>;
  isVisible(): Promise<boolean>;
  isEnabled(): Promise<boolean>;
  inputValue(): Promise<string>;
  innerText(): Promise<string>;
  allInnerTexts(): Promise<string[]>;
  textContent(): Promise<string | null>;
  getAttribute(name: string): Promise<string | null>;
  waitFor(options?: WaitOptions): Promise<void>;
}

export interface CdpSession {
  send(method: 'Debugger.enable' | 'Debugger.pause' | 'Debugger.resume'): Promise<unknown>;
}

interface ConsoleMessage {
  type(): string;
  text(): string;
}

export interface Page extends Finder {
  readonly clock: {
    install(options?: { readonly time?: number }): Promise<void>;
    fastForward(ticks: number): Promise<void>;
  };
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  readonly mouse: { move(x: number, y: number): Promise<void>; wheel(x: number, y: number): Promise<void> };
  addInitScript(script: string): Promise<unknown>;
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  close(): Promise<void>;
  bringToFront(): Promise<void>;
  url(): string;
  title(): Promise<string>;
  evaluate(expression: string): Promise<unknown>;
  waitForFunction(expression: string): Promise<unknown>;
  screenshot(options: { readonly path: string; readonly animations?: 'disabled' }): Promise<unknown>;
  context(): BrowserContext;
  on(event: 'console', listener: (message: ConsoleMessage) => void): unknown;
  on(event: 'pageerror', listener: (error: Error) => void): unknown;
}

export interface BrowserContext {
  newPage(): Promise<Page>;
  newCDPSession(page: Page): Promise<CdpSession>;
  addInitScript(script: string): Promise<unknown>;
  setDefaultTimeout(timeout: number): void;
  setOffline(offline: boolean): Promise<void>;
  pages(): Page[];
  close(): Promise<void>;
  on(event: 'request', listener: (request: { url(): string }) => void): unknown;
  on(event: 'page', listener: (page: Page) => void): unknown;
}

export interface ContextOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  readonly isMobile?: boolean;
  readonly hasTouch?: boolean;
  readonly deviceScaleFactor?: number;
}

export interface Browser {
  newContext(options?: ContextOptions): Promise<BrowserContext>;
  version(): string;
  close(): Promise<void>;
}

export interface LaunchOptions {
  readonly executablePath: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

export interface Playwright {
  launchServer(options: LaunchOptions): Promise<{ wsEndpoint(): string; close(): Promise<void> }>;
  connect(endpoint: string): Promise<Browser>;
}

/** A rule that a page breaks. */
export interface AccessibilityFault {
  readonly id: string;
  readonly impact?: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string | undefined }[];
}

export type AxeBuilder = new (options: { readonly page: Page }) => {
  analyze(): Promise<{ readonly violations: readonly AccessibilityFault[] }>;
};

/** A package that has Chromium in it. */
export interface ChromiumPackage {
  readonly default: { executablePath(): Promise<string> };
  inflate(path: string): Promise<string>;
}

type Load = <Loaded>(name: string) => Promise<Loaded>;
// Holds: the packages export these, as playwright-types.test-d.ts checks.
const load: Load = async (name) => (await import(name)) as never;

export const loadPlaywright = async (): Promise<Playwright> => (await load<{ chromium: Playwright }>('playwright-core')).chromium;
export const loadAxe = async (): Promise<AxeBuilder> => (await load<{ AxeBuilder: AxeBuilder }>('@axe-core/playwright')).AxeBuilder;
export const loadChromium = (): Promise<ChromiumPackage> => load('@sparticuz/chromium');
