// A process that runs sessions and delivers their events, until it is killed. Its argument: JSON of `DeliveringOrders`.
import { createAgent } from '../../src/entry/index.ts';
import { webhook } from '../../src/entry/http.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

export interface DeliveringOrders {
  readonly path: string;
  readonly url: string;
  readonly secret: string;
  /** Number of this process among those that follow each other. */
  readonly life: number;
}

const orders = JSON.parse(process.argv[2] ?? '{}') as DeliveringOrders;
const by = { id: 'ann', kind: 'user' };
const runtime = createSessionRuntime({
  agents: [createAgent({ id: 'desk', model: scriptedModel(['Hello.'], { repeatLast: true }) })],
  store: sqliteStore(orders.path),
});
await runtime.ready;
runtime.deliver('desk', webhook({ url: orders.url, secret: orders.secret, allowAnyAddress: true }), { firstDelayMs: 50, maxDelayMs: 200 });
for (const id of ['a', 'b', 'c']) await runtime.create({ id }, { by, requestId: `create ${id}` });
for (let turn = 0; turn < 20; turn += 1)
  for (const id of ['a', 'b', 'c']) await runtime.send(id, `Hi ${turn}.`, { by, requestId: `${orders.life} ${turn}` });
process.send?.({ type: 'done' });
