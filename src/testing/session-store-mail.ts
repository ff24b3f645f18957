import type { MailQuery, NewMail } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';
import type { Stage, StoreCheck } from './session-store-sample.ts';
import { newSession, assertRefused, sampleEntry } from './session-store-sample.ts';

const sampleMail = (requestId: string, changes: Partial<NewMail> = {}): NewMail => ({
  sessionId: 's',
  requestId,
  at: 1000,
  body: `{"r":"${requestId}"}`,
  ...changes,
});

/** Lists the requests of all mails that fit. */
const listRequests = async ({ store }: Pick<Stage, 'store'>, query?: MailQuery): Promise<string> =>
  (await store.inbox.read(query)).map(({ requestId }) => requestId).join('');

/** Promises of a store about mails. */
export const mailChecks: Readonly<Record<string, StoreCheck>> = {
  'keeps a mail until a write takes it': async ({ store, reopen, create, append }) => {
    await create('s');
    const mail = sampleMail('🦊 \'"', { at: 1001.5, body: '"\\u0000 ä"' });
    const posted = await store.inbox.post(mail);
    same(posted, { ...mail, num: posted.num }, 'mail');
    const other = await reopen();
    same(await other.inbox.read(), [posted], 'mails in another store');
    const kept = await store.inbox.post(sampleMail('kept'));
    await append('s', 2, { entries: [sampleEntry(2, { requestId: mail.requestId })], takesMail: [posted.num, posted.num + 1000] });
    same(await other.inbox.read(), [kept], 'mails after the write');
    same((await other.log.findRequest('s', mail.requestId))?.n, 2, 'entry that answers it');
  },
  'numbers mails in the order in which they were posted, and no two alike': async ({ store, epoch, reopen }) => {
    const other = await reopen();
    const first = await Promise.all(['a', 'b', 'c'].map((id) => store.inbox.post(sampleMail(id))));
    const second = await other.inbox.post(sampleMail('d', { sessionId: 'other' }));
    same(
      (await store.inbox.read()).map(({ num }) => num),
      [...first, second].map(({ num }) => num),
      'numbers',
    );
    for (const { num } of [...first, second]) await store.inbox.answer({ epoch, num });
    const { num } = await other.inbox.post(sampleMail('e'));
    holds(
      first.every((mail, index) => mail.num > (first[index - 1]?.num ?? 0)),
      `the numbers are ${first.map((mail) => mail.num).join()}`,
    );
    holds(num > second.num && second.num > Number(first.at(-1)?.num), `${num} follows ${second.num}`);
  },
  'keeps one mail for each request of a session': async ({ store, epoch, reopen }) => {
    const first = await store.inbox.post(sampleMail('r'));
    const again = sampleMail('r', { at: 2000, body: '"other"' });
    const [one, two] = await Promise.all([store.inbox.post(again), (await reopen()).inbox.post(again)]);
    same([one, two], [first, first], 'mail that was posted again');
    const [three, four] = await Promise.all([store.inbox.post(sampleMail('q')), store.inbox.post(sampleMail('q'))]);
    same(three, four, 'mail that was posted twice in the same moment');
    await store.inbox.post(sampleMail('r', { sessionId: 'other' }));
    same(
      (await store.inbox.read()).map(({ sessionId, requestId }) => `${sessionId} ${requestId}`),
      ['s r', 's q', 'other r'],
      'mails',
    );
    await store.inbox.answer({ epoch, num: first.num, reply: '"no"' });
    same(await store.inbox.post(again), { ...first, reply: '"no"' }, 'mail with a reply that was posted again');
  },
  'takes mail from stores without a claim, for sessions that do not exist yet': async ({ store, reopen, create }) => {
    const other = await reopen();
    const { num } = await other.inbox.post(sampleMail('r'));
    same([await other.log.load('s'), await listRequests({ store })], [undefined, 'r'], 'session and mails');
    await create('s', { takesMail: [num] });
    same([(await other.log.load('s'))?.head, await listRequests({ store: other })], [1, ''], 'head and mails');
  },
  'keeps a mail if the write that takes it is refused': async ({ store, epoch, reopen, create, append, refuses }) => {
    await create('s');
    const takesMail = [(await store.inbox.post(sampleMail('r'))).num];
    await refuses(() => append('s', 3, { takesMail }), 'session-conflict', 'a write after entry 2 of 1');
    await (await reopen()).claims.claim();
    await refuses(() => append('s', 2, { takesMail }), 'store-fenced', 'a write of an older claim');
    await assertRefused(store.log.write(newSession('t', epoch, { takesMail })), 'store-fenced', 'a session of an older claim');
    same(await listRequests({ store }), 'r', 'mails');
  },
  'keeps the reply to a mail until the mail is removed': async ({ store, epoch, reopen }) => {
    const other = await reopen();
    const mail = await other.inbox.post(sampleMail('r'));
    await other.inbox.post(sampleMail('q'));
    await store.inbox.answer({ epoch, num: mail.num, reply: '{"code":"x"}' });
    same(await other.inbox.read({ requestId: 'r' }), [{ ...mail, reply: '{"code":"x"}' }], 'mail with its reply');
    await store.inbox.answer({ epoch, num: mail.num });
    await store.inbox.answer({ epoch, num: mail.num, reply: '"late"' });
    await store.inbox.answer({ epoch, num: mail.num });
    same(await listRequests({ store: other }), 'q', 'mails');
  },
  'refuses the reply of an older claim': async ({ store, epoch, reopen }) => {
    const mail = await store.inbox.post(sampleMail('r'));
    await (await reopen()).claims.claim();
    await assertRefused(store.inbox.answer({ epoch, num: mail.num, reply: '"no"' }), 'store-fenced', 'a reply');
    await assertRefused(store.inbox.answer({ epoch, num: mail.num }), 'store-fenced', 'removing a mail');
    same(await store.inbox.read(), [mail], 'mails');
  },
  'finds mails by what is asked for': async ({ store, epoch }) => {
    const posted = [];
    for (const id of ['a', 'b', 'c', 'd']) posted.push(await store.inbox.post(sampleMail(id, { sessionId: id < 'c' ? 's' : 't' })));
    await store.inbox.answer({ epoch, num: Number(posted[1]?.num), reply: '1' });
    const questions: readonly (readonly [MailQuery, string])[] = [
      [{}, 'abcd'],
      [{ sessionId: 't' }, 'cd'],
      [{ requestId: 'c' }, 'c'],
      [{ sessionId: 's', requestId: 'c' }, ''],
      [{ isWaiting: true }, 'acd'],
      [{ isWaiting: false }, 'b'],
      [{ sessionId: 's', isWaiting: true }, 'a'],
      [{ after: Number(posted[1]?.num) }, 'cd'],
      [{ limit: 3 }, 'abc'],
      [{ isWaiting: true, after: Number(posted[0]?.num), limit: 1 }, 'c'],
    ];
    for (const [query, expected] of questions) same(await listRequests({ store }, query), expected, `mails for ${JSON.stringify(query)}`);
    await assertRefused(store.inbox.read({ limit: 0 }), 'invalid-argument', 'a limit of 0');
  },
  'refuses a mail that makes no sense': async ({ store }) => {
    await assertRefused(store.inbox.post(sampleMail('r', { at: Number.NaN })), 'invalid-argument', 'a time that is not a number');
    await assertRefused(store.inbox.post(sampleMail('\uD800')), 'invalid-argument', 'a request id that cannot be stored');
    same(await store.inbox.read(), [], 'mails');
  },
};
