// Requests and results that are accepted, and those that are not.
import { generateKeyPairSync } from 'node:crypto';
import { connect } from 'node:http2';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgent, defineTool } from '../../../src/entry/index.ts';
import { restateSessions, serveSessions } from '../../../src/sessions/restate/index.ts';
import { sqliteStore } from '../../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import { listen } from './listen.ts';
import type { RestateServer } from './server.ts';
import { startRestate } from './server.ts';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Writes bytes the way the server writes its public key. */
function toBase58(bytes: Uint8Array): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (; number > 0n; number /= 58n) text = `${alphabet[Number(number % 58n)] ?? ''}${text}`;
  return text;
}

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const rawKey = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
const identityKeys = [`publickeyv1_${toBase58(rawKey)}`];
const folder = mkdtempSync(join(tmpdir(), 'stepline-borders-'));
const by = { id: 'ann', kind: 'user' };

const size = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] } as const;
const createFill = (effect: 'once' | 'pure', letter: string) =>
  defineTool({ name: 'fill', description: 'Fills.', input: size, effect, run: (args) => letter.repeat(args.size) });

/** Four calls in one step, each with a result of this size. */
const createFiller = (bytes: number, effect: 'once' | 'pure', letter: string) =>
  createAgent({
    id: 'filler',
    model: scriptedModel([
      { toolCalls: [1, 2, 3, 4].map((index) => ({ name: 'fill', id: `c${index}`, args: { size: bytes } })) },
      { text: 'Filled.' },
    ]),
    tools: [createFill(effect, letter)],
    ports: { onProblem: () => undefined },
  });

let server: RestateServer | undefined;
beforeAll(async () => {
  const key = join(folder, 'key.pem');
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  server = await startRestate({
    RESTATE_REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: key,
    RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: key,
  });
});
afterAll(async () => {
  await server?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

interface Limits {
  readonly effect?: 'once' | 'pure';
  readonly maxRecordBytes?: number;
  /** @default 'x' */
  readonly letter?: string;
}

async function openSessions(prefix: string, bytes: number, { effect = 'once', maxRecordBytes, letter = 'x' }: Limits = {}) {
  if (server === undefined) throw new Error('There is no server.');
  const list = sqliteStore({ path: join(folder, `${prefix}.db`) });
  const [agents, ingress] = [[createFiller(bytes, effect, letter)], { url: server.ingress }];
  const problems: unknown[] = [];
  const worker = serveSessions({
    agents,
    ingress,
    list,
    prefix,
    identityKeys,
    maxRecoveries: 1,
    onProblem: (error) => void problems.push(error),
    ...(maxRecordBytes !== undefined && { maxRecordBytes }),
  });
  const endpoint = await listen(worker.node);
  await server.register(endpoint.url);
  await worker.start();
  const runtime = restateSessions({ agents, ingress, list, prefix });
  const dispose = async (): Promise<void> => {
    await runtime.drain();
    await worker.drain();
    await endpoint.close();
    await list.close();
  };
  return { runtime, endpoint, problems, dispose };
}

/** Requests a turn from an endpoint without a signature, as a stranger would. */
function askUnsigned(url: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const client = connect(url);
    client.on('error', reject);
    const request = client.request({ ':method': 'POST', ':path': path, 'content-type': 'application/vnd.restate.invocation.v5' });
    request.on('response', (headers) => {
      resolve(Number(headers[':status']));
      client.close();
    });
    request.on('error', reject);
    request.end();
  });
}

describe('limits of sessions on Restate', () => {
  test('answers a server with the right key, and rejects anyone else', async () => {
    const { runtime, endpoint, dispose } = await openSessions('Signed', 10);
    const { id } = await runtime.create({}, { by });
    expect((await runtime.send(id, 'Go.', { by })).text).toBe('Filled.');
    expect(await askUnsigned(endpoint.url, '/invoke/SignedSession/turn')).toBe(401);
    await dispose();
  });

  test('stores the results of four calls of a quarter of a megabyte each', async () => {
    const { runtime, dispose } = await openSessions('Large', 250_000);
    const { id } = await runtime.create({}, { by });
    const { text, state } = await runtime.send(id, 'Go.', { by });
    expect([text, JSON.stringify(state).length > 1_000_000]).toStrictEqual(['Filled.', true]);
    await dispose();
  });

  test('rejects a result that is too large with session-too-large, and reports a once call as unknown', async () => {
    const { runtime, problems, dispose } = await openSessions('OnceTooLarge', 20_000, { maxRecordBytes: 15_000 });
    const { id } = await runtime.create({}, { by });
    const { status, state } = await runtime.send(id, 'Go.', { by });
    const ends = state.steps.flatMap(({ executions }) => executions).map((call) => call.status);
    expect([status, new Set(ends)]).toStrictEqual(['completed', new Set(['unknown'])]);
    expect(problems.map((error) => Reflect.get(Object(error), 'code'))).toContain('session-too-large');
    await dispose();
  });

  test('counts the bytes of a result, not its characters', async () => {
    const { runtime, problems, dispose } = await openSessions('Wide', 10_000, { maxRecordBytes: 15_000, letter: '漢' });
    const { id } = await runtime.create({}, { by });
    const { state } = await runtime.send(id, 'Go.', { by });
    const ends = state.steps.flatMap(({ executions }) => executions).map((call) => call.status);
    expect(new Set(ends)).toStrictEqual(new Set(['unknown']));
    expect(problems.map((error) => Reflect.get(Object(error), 'code'))).toContain('session-too-large');
    await dispose();
  });

  test('waits for a person if the results of a step are too large every time', async () => {
    const { runtime, problems, dispose } = await openSessions('TooLarge', 20_000, { effect: 'pure', maxRecordBytes: 15_000 });
    const { id } = await runtime.create({}, { by });
    const { status, waitingFor } = await runtime.send(id, 'Go.', { by });
    expect([status, waitingFor.map(({ type }) => type)]).toStrictEqual(['waiting', ['person']]);
    expect(problems.map((error) => Reflect.get(Object(error), 'code'))).toContain('session-too-large');
    await dispose();
  });
});
