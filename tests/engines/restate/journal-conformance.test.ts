import type { Context } from '@restatedev/restate-sdk';
import { createEndpointHandler, RetryableError, service } from '@restatedev/restate-sdk';
import { afterAll, describe, test } from 'vitest';
import { restateEngine } from '../../../src/journal/restate/index.ts';
import type { JournalAttempt, JournalWorld } from '../../../src/testing/index.ts';
import { journalConformance } from '../../../src/testing/index.ts';
import { listen } from './listen.ts';
import { startRestate } from './server.ts';

type Body = (attempt: JournalAttempt) => Promise<unknown>;

const server = await startRestate();
const bodies = new Map<string, Body>();

/** A failed attempt is retried on the same journal; the failed one never continues. */
const runs = service({
  name: 'Runs',
  options: {
    retryPolicy: { initialInterval: 10, maxInterval: 100, maxAttempts: 1000 },
    inactivityTimeout: 3_600_000,
    abortTimeout: 3_600_000,
  },
  handlers: {
    run: async (ctx: Context, id: string): Promise<unknown> => {
      const never = new Promise<never>(() => undefined);
      return new Promise((resolve, reject) => {
        const crash = (): Promise<never> => {
          reject(new RetryableError('crash'));
          return never;
        };
        bodies
          .get(id)?.({ engine: restateEngine(ctx), crash })
          .then(resolve, reject);
      });
    },
  },
});
const endpoint = await listen(createEndpointHandler({ services: [runs], logger: () => undefined }));
await server.register(endpoint.url);

const world: JournalWorld = {
  execute: async (id, body) => {
    bodies.set(id, body);
    const response = await fetch(`${server.ingress}/Runs/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(id),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text === '' ? undefined : JSON.parse(text);
  },
};

afterAll(async () => {
  await endpoint.close();
  await server.dispose();
});

describe('restateEngine passes the conformance suite', () => {
  for (const { name, run } of journalConformance(world)) test(name, run);
});
