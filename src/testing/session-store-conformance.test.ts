import { describe, expect, test } from 'vitest';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { testSuite, withChange } from '../../tests/support/broken-stores.ts';
import { createMemoryPlace } from '../sessions/index.ts';
import { closeChecks, sessionStoreConformance } from './session-store-conformance.ts';

const broken: Readonly<Record<string, Breaking>> = {
  'writes what was asked for before it closes': withChange((store) => {
    let isClosed = false;
    return {
      log: {
        ...store.log,
        write: async (write) => {
          await Promise.resolve();
          return isClosed ? { hasMail: false } : store.log.write(write);
        },
      },
      close: async () => {
        isClosed = true;
        await store.close();
      },
    };
  }),
  'can be closed twice, and is of no use then': withChange(() => ({ close: () => Promise.resolve() })),
};

describe('the cases of the end of a store', () => testSuite(closeChecks, broken));

describe('the suites of the SessionStore port', () => {
  test('are one for each port of a store, and one for its end', () => {
    const place = createMemoryPlace();
    const ports = sessionStoreConformance(async () => ({ open: async () => place.open() })).map(({ port }) => port);
    expect([...new Set(ports)].sort()).toStrictEqual(Object.keys(place.open()).sort());
  });

  test('disposes of the place when the stores on it are closed', async () => {
    const told: string[] = [];
    const place = createMemoryPlace();
    const [first] = sessionStoreConformance(() =>
      Promise.resolve({
        open: () => {
          const store = place.open();
          return Promise.resolve({ ...store, close: () => (told.push('close'), store.close()) });
        },
        dispose: () => {
          told.push('dispose');
          return Promise.resolve();
        },
      }),
    );
    await first?.run();
    expect(told).toStrictEqual(['close', 'dispose']);
  });
});
