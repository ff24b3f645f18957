// A web server and a worker in processes of their own, on one SQLite file.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StartedProcess } from '../support/started-process.ts';
import { startProcess } from '../support/started-process.ts';

/** Counts of the web server since it started. */
export interface SiteCounts {
  readonly openStreams: number;
  readonly streams: number;
  readonly refused: number;
  readonly tokens: number;
}

export interface Site {
  readonly url: string;
  /** Lets answers pass a gate. */
  open(gate: string): void;
  kill(which: 'web' | 'worker'): Promise<void>;
  start(which: 'web' | 'worker'): Promise<void>;
  /** Breaks all streams of events off. */
  cut(): Promise<SiteCounts>;
  /** Makes all tokens invalid that were issued so far. */
  expireTokens(): Promise<SiteCounts>;
  count(): Promise<SiteCounts>;
  /** Makes a request to the handler of sessions. */
  request<Body>(path: string, value?: object): Promise<Body>;
  /** Creates a session, and sends it a message if one is given; returns its id. With `until: 'rest'` it waits for the end. */
  newSession(text?: string, options?: { readonly agent?: string; readonly until?: 'rest' }): Promise<string>;
  /** Ends both, and removes their files. */
  end(): Promise<void>;
}

const locate = (file: string): URL => new URL(file, import.meta.url);

/** Starts both. */
export async function startSite(): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-browser-'));
  const [path, gates] = [join(folder, 'sessions.db'), join(folder, 'gates')];
  mkdirSync(gates);
  const running = new Map<'web' | 'worker', StartedProcess>();
  let port = 0;
  const start = async (which: 'web' | 'worker'): Promise<void> => {
    const started = startProcess(locate(`${which}-process.ts`), [path, gates, String(port)]);
    running.set(which, started);
    const ready = await started.hear('ready');
    port = ready.port ?? port;
  };
  const kill = async (which: 'web' | 'worker'): Promise<void> => {
    await running.get(which)?.kill();
    running.delete(which);
  };
  const ask = async (type: string): Promise<SiteCounts> => {
    const web = running.get('web');
    if (web === undefined) throw new Error('The web server is not running.');
    const heard = web.hear(type);
    web.say({ type });
    // Holds: this is what the process answers.
    return (await heard).value as SiteCounts;
  };
  await start('worker');
  await start('web');
  const url = `http://127.0.0.1:${port}`;
  const request: Site['request'] = async <Body>(to: string, value?: object) => {
    const headers = {
      authorization: `Bearer ${await (await fetch(`${url}/token`)).text()}`,
      ...(value !== undefined && { 'content-type': 'application/json' }),
    };
    const response = await fetch(`${url}/agents${to}`, {
      headers,
      ...(value !== undefined && { method: 'POST', body: JSON.stringify(value) }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as Body;
  };
  return {
    url,
    open: (gate) => writeFileSync(join(gates, gate), ''),
    kill,
    start,
    cut: () => ask('cut'),
    expireTokens: () => ask('expire'),
    count: () => ask('count'),
    request,
    newSession: async (text, { agent = 'desk', until } = {}) => {
      const { session_id: id } = await request<{ session_id: string }>('/sessions', { agent });
      if (text !== undefined) await request(`/sessions/${id}/messages`, { text, ...(until !== undefined && { until }) });
      return id;
    },
    end: async () => {
      await Promise.all([kill('web'), kill('worker')]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
