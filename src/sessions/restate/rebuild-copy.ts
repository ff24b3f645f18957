// Rebuilding the copy for readers after its store was lost.
import { isRecord } from '../../lib/index.ts';
import { IngressError } from './ingress-error.ts';
import type { IngressOptions } from './ingress.ts';
import { openIngress } from './ingress.ts';
import { registryKey, toServiceNames } from './protocol.ts';

/** Options of rebuildCopy(). */
export interface RebuildCopyOptions {
  readonly ingress: IngressOptions;
  /** Admin port of the server, which has the list of sessions. */
  readonly admin: IngressOptions;
  /** Prefix of the service names. @default 'Stepline' */
  readonly prefix?: string;
}

/** Sessions to ask for at once. */
const pageSize = 500;

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Lists sessions, in the order of their ids. */
async function listSessions({ url, headers = {}, fetch: send = fetch }: IngressOptions, query: string): Promise<readonly string[]> {
  const address = new URL('query', url.endsWith('/') ? url : `${url}/`);
  const response = await send(address, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query }),
  });
  if (!response.ok) throw new IngressError(String(address), { status: response.status, problem: await response.text() });
  const data: unknown = await response.json();
  const rows: unknown = isRecord(data) ? data['rows'] : undefined;
  return Array.isArray(rows) ? rows.map((row: unknown) => String(Reflect.get(Object(row), 'service_key'))) : [];
}

/**
 * Makes every session send what it has to the desk. Call it if the desk has a new store, or an earlier state of it was restored, and before
 * the application accepts actions again. Sessions whose copy is complete send nothing. Returns the number of sessions that were asked;
 * each sends its copy as soon as no turn of it runs.
 */
export async function rebuildCopy({ ingress, admin, prefix = 'Stepline' }: RebuildCopyOptions): Promise<number> {
  const { call } = openIngress(ingress);
  const { session, registry } = toServiceNames(prefix);
  await call({ service: registry, key: registryKey, handler: 'lookAgain' }, undefined);
  let [count, last] = [0, ''];
  for (;;) {
    const ids = await listSessions(
      admin,
      `SELECT service_key FROM state WHERE service_name = ${quote(session)} AND key = 'head' AND service_key > ${quote(last)} ORDER BY service_key LIMIT ${pageSize}`,
    );
    for (const key of ids) await call({ service: session, key, handler: 'copy', isOneWay: true }, undefined);
    count += ids.length;
    last = ids.at(-1) ?? last;
    if (ids.length < pageSize) return count;
  }
}
