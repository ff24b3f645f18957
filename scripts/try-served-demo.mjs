// Starts the demo on a free port as `npm start` does, asks it something as its page would, and ends it. Fails if anything is missing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const folder = mkdtempSync(join(tmpdir(), 'served-demo-'));
const args = ['examples/partner-desk/main.ts', '--offline', '--port', '0', '--db', join(folder, 'desk.db')];
const desk = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });

async function findAddress() {
  for await (const line of createInterface({ input: desk.stdout })) {
    const [address] = /http:\/\/localhost:\d+/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('The demo ended before it printed an address.');
}

/** @type {(address: string) => Promise<string>} */
async function read(address) {
  const response = await fetch(address);
  assert.equal(response.status, 200, `${address} answers ${response.status}`);
  return response.text();
}

/** @type {(address: string, body: object) => Promise<{ session_id: string, text: string }>} */
async function post(address, body) {
  const response = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return /** @type {{ session_id: string, text: string }} */ (await response.json());
}

try {
  const address = await findAddress();
  const page = await read(address);
  const assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path);
  assert.equal(assets.length, 2, 'the page has a script and a style sheet');
  for (const path of assets) await read(`${address}${path}`);
  const { session_id } = await post(`${address}/agents/sessions`, {});
  const { text } = await post(`${address}/agents/sessions/${session_id}/messages`, { text: 'Find Acme', until: 'rest' });
  console.log(text);
} finally {
  desk.kill('SIGTERM');
  if (desk.exitCode === null) await once(desk, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
assert.equal(desk.exitCode, 0, 'the demo ends without a complaint');
