// The configuration that the server wrote into the page.

/** Options of createPageHandler(), as the page reads them. */
export interface PageConfig {
  /** Path before all addresses of the page; empty for the root. */
  readonly basePath: string;
  /** Address of the handler of sessions. */
  readonly api: string;
  readonly title: string;
  readonly tokenUrl?: string;
  readonly tour?: string;
  readonly suggestions?: readonly string[];
}

const defaults: PageConfig = { basePath: '', api: '/agents', title: 'Stepline' };

function readConfig(): PageConfig {
  const text = document.getElementById('page-config')?.textContent ?? '{}';
  // Holds: the server that sent the page wrote it.
  return { ...defaults, ...(JSON.parse(text) as Partial<PageConfig>) };
}

export const config: PageConfig = readConfig();
