// The side of Stepline in examples/laravel: the rule of a channel asks for the facts of its session, with the token of a service.
import { describe, expect, it } from 'vitest';
import { createLogin } from '../../examples/laravel/authorize.ts';
import { openSite } from '../http/stage.ts';

const serviceToken = 'the token of the service';

describe('the authorization of examples/laravel', () => {
  it('lets the service read who owns a session, and nothing else', async () => {
    const readUser = (token: string): Promise<string | undefined> => Promise.resolve(/^user (\w+)$/.exec(token)?.[1]);
    const site = await openSite({
      handler: { ...createLogin(serviceToken, readUser), newSession: ({ by }) => ({ owner: by.id, agent: 'desk' }) },
    });
    const ask = (token: string, method: string, path: string): Promise<Response> =>
      fetch(`${site.url}/sessions${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: '{"agent":"desk"}' }),
      });
    const created = (await (await ask('user ann', 'POST', '')).json()) as { readonly session_id: string };
    const path = `/${created.session_id}`;
    expect(await (await ask(serviceToken, 'GET', `${path}/facts`)).json()).toMatchObject({ owner: 'ann' });
    expect((await ask(serviceToken, 'GET', path)).status).toBe(404);
    expect((await ask(serviceToken, 'GET', `${path}/events`)).status).toBe(404);
    expect((await ask(serviceToken, 'POST', '')).status).toBe(403);
    expect((await ask(`${serviceToken}!`, 'GET', `${path}/facts`)).status).toBe(401);
    expect((await ask('user ann', 'GET', `${path}/facts`)).status).toBe(200);
    expect((await ask('user eve', 'GET', `${path}/facts`)).status).toBe(404);
  });
});
