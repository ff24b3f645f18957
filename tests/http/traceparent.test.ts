// The trace that a request belongs to is stored with the action that it asks for.
import { expect, it } from 'vitest';
import { ann, bob, openSite } from './stage.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

async function post(url: string, caller: string, header: string, value: object): Promise<number> {
  const headers = { 'x-caller': caller, 'content-type': 'application/json', traceparent: header };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(value) })).status;
}

it('keeps the traceparent of the requests that sent a message and approved a call', async () => {
  const site = await openSite();
  const id = await site.start(ann);
  expect(await post(`${site.url}/sessions/${id}/messages`, ann, traceparent, { text: 'pay 5', until: 'rest' })).toBe(200);
  const [wait] = (await site.request(ann, 'GET', `/sessions/${id}/waits`)).body.waits;
  const path = `${site.url}/sessions/${id}/waits/${wait.wait_id}`;
  expect(await post(`${path}/approve`, bob, traceparent.replace('-01', '-00'), { digest: wait.digest, until: 'rest' })).toBe(200);
  expect(await site.runtime.actions(id)).toMatchObject([
    { type: 'create' },
    { type: 'send', traceparent },
    { type: 'approve', traceparent: traceparent.replace('-01', '-00') },
  ]);
});

it('ignores a traceparent that is none, as Trace Context wants it', async () => {
  const site = await openSite();
  const id = await site.start(ann);
  expect(await post(`${site.url}/sessions/${id}/messages`, ann, 'none of yours', { text: 'look 5', until: 'rest' })).toBe(200);
  expect((await site.runtime.actions(id)).at(-1)).not.toHaveProperty('traceparent');
});
