import { describe } from 'vitest';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { neverRefusing, testSuite, withChange, withMethod, writing } from '../../tests/support/broken-stores.ts';
import type { SessionWrite, WriteReceipt } from '../sessions/index.ts';
import { createMemoryStore } from '../sessions/index.ts';
import { toHeldLease, sampleHeader } from './session-store-sample.ts';
import { writeChecks } from './session-store-writes.ts';

const alone: Breaking = () => createMemoryStore;
const neverClearing = writing(({ clearsEffects: _, ...write }) => write);
/** Keeps the part of a write that fits, whatever becomes of the rest. */
const halfWriting = writing(async (write, store) => {
  const { head: after = 0 } = (await store.log.load(write.sessionId)) ?? {};
  const { sessionId, header, rewrites } = write;
  const part = { ...(header !== undefined && { header }), ...(rewrites !== undefined && { rewrites }) };
  if (after > 0) await store.log.write({ sessionId, lease: toHeldLease(), keepsLease: true, after, ...part });
  return write;
});

const clearingFirst = writing(async (write, store) => {
  const { sessionId, lease } = write;
  const { head: after = 0 } = (await store.log.load(sessionId)) ?? {};
  if (write.clearsEffects === true) await store.log.write({ sessionId, lease, keepsLease: true, after, clearsEffects: true });
  return write;
});

const failingTogether = withChange((store) => {
  let broken: Promise<WriteReceipt> | undefined;
  return {
    log: {
      ...store.log,
      write: (write) => {
        const done = broken ?? store.log.write(write);
        done.catch(() => {
          broken = done;
        });
        return Promise.resolve().then(() => broken ?? done);
      },
    },
  };
});

const sharing = withChange((store) => {
  let last: SessionWrite | undefined;
  return {
    log: {
      ...store.log,
      write: (write) => store.log.write((last = write)),
      load: async (id) => {
        const session = await store.log.load(id);
        return session && { ...session, header: last?.header ?? session.header, entries: last?.entries ?? session.entries };
      },
    },
  };
});

const broken: Readonly<Record<string, Breaking>> = {
  'keeps all that a write says': writing(({ effects: _, ...write }) => write),
  'keeps what was written for whoever opens the place next': alone,
  'shows another store what is safe': alone,
  'keeps the copy that it was given': sharing,
  'keeps writes of one session in the order in which they were asked for': writing(async (write) => {
    if (write.after === 2) await new Promise((resolve) => setTimeout(resolve));
    return write;
  }),
  'leaves the header where a write has none': writing((write) => ({ ...write, header: write.header ?? sampleHeader(write.sessionId) })),
  'replaces the whole header': writing(async (write, store) => {
    const before = (await store.log.load(write.sessionId))?.header;
    return write.header === undefined ? write : { ...write, header: { ...before, ...write.header } };
  }),
  'drops effects in the write that records their step': neverClearing,
  'drops effects that were asked for in the same moment': neverClearing,
  'keeps effects where the write that would drop them is refused': clearingFirst,
  'refuses a write that does not follow the last entry, and changes nothing': halfWriting,
  'refuses to make a session that exists': halfWriting,
  'refuses to go on with a session that does not exist': neverRefusing,
  'does not let a refused write fail others': failingTogether,
  'refuses to answer a request twice, and changes nothing': writing(({ entries = [], ...write }) => ({
    ...write,
    entries: entries.map(({ requestId: _, ...entry }) => entry),
  })),
  'refuses an effect that is kept already, and changes nothing': neverRefusing,
  'refuses a write that makes no sense': neverRefusing,
  'replaces texts of entries, and nothing else': writing(({ rewrites, ...write }) => ({
    ...write,
    ...(rewrites && { rewrites: rewrites.map((rewrite) => ({ events: '[]', ...rewrite })) }),
  })),
  'replaces no text if the write is refused': halfWriting,
  'keeps many writes to many sessions': withMethod('log', (log) => {
    let count = 0;
    return { write: async (write) => ((count += 1) % 100 === 0 ? { hasMail: false } : log.write(write)) };
  }),
};

describe('the cases of writes', () => testSuite(writeChecks, broken));
