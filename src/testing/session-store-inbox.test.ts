import { describe } from 'vitest';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { claimingOpen, neverRefusing, testSuite, withMethod, writing } from '../../tests/support/broken-stores.ts';
import { inboxChecks } from './session-store-inbox.ts';

const broken: Readonly<Record<string, Breaking>> = {
  'keeps a mail until a write applies it': writing(({ mail: _, ...write }) => write),
  // It counts the mails of all sessions.
  'numbers the mails of each session from 1, in the order in which they were posted': withMethod('inbox', (inbox) => ({
    post: async (mail) => {
      const posted = await inbox.post(mail);
      return posted && { ...posted, num: (await inbox.read()).length };
    },
  })),
  'names the last mail of a session while one waits': withMethod('heads', (heads, store) => ({
    read: async (id) => {
      const head = await heads.read(id);
      const last = (await store.inbox.read({ sessionId: id })).at(-1)?.num;
      return head && { ...head, ...(last !== undefined && { lastMail: last }) };
    },
  })),
  'keeps one mail for each request of a session': withMethod('inbox', (inbox) => {
    let count = 0;
    return { post: (mail) => inbox.post({ ...mail, requestId: `${mail.requestId}${(count += 1)}` }) };
  }),
  'posts nothing if the log has the request': withMethod('inbox', (inbox) => ({
    post: async (mail) => (await inbox.post(mail)) ?? inbox.post({ ...mail, requestId: `${mail.requestId} again` }),
  })),
  'refuses mail for a session that does not exist': withMethod('inbox', (inbox) => ({
    post: (mail) => inbox.post(mail).catch(() => ({ ...mail, num: 1 })),
  })),
  'makes a session at rest ready': claimingOpen,
  'keeps a mail if the write that applies it is refused': writing(async ({ mail, ...write }, store) => {
    const head = await store.heads.read(write.sessionId);
    if (mail === undefined || head?.worker === undefined) return write;
    const { worker, fence, head: after } = head;
    await store.log.write({ sessionId: write.sessionId, lease: { worker, fence, type: 'held' }, keepsLease: true, after, mail });
    return write;
  }),
  'keeps the reply to a mail until it is dropped': writing(({ mail, ...write }) => ({
    ...write,
    ...(mail && { mail: { num: mail.num } }),
  })),
  'refuses a mail in the moment in which it is posted': withMethod('inbox', (inbox) => ({
    post: async (mail) => {
      await new Promise((resolve) => setTimeout(resolve));
      return inbox.post(mail);
    },
  })),
  'refuses a write that answers a mail that was not posted': neverRefusing,
  'keeps a write behind mail': writing(({ isBehindMail: _, ...write }) => write),
  'finds mails by what is asked for': withMethod('inbox', (inbox) => ({ read: ({ isWaiting: _, ...query } = {}) => inbox.read(query) })),
  'removes replies to mails from before a time': withMethod('inbox', () => ({ prune: () => Promise.resolve() })),
  'refuses a mail that makes no sense': withMethod('inbox', (inbox) => ({ post: (mail) => inbox.post({ ...mail, at: 1 }) })),
};

describe('the cases of the inbox', () => testSuite(inboxChecks, broken));
