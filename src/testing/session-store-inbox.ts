import type { MailQuery } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';
import type { Stage, StoreCheck } from './session-store-sample.ts';
import { assertRefused, sampleEntry, sampleHeader, sampleMail } from './session-store-sample.ts';

/** Lists the requests of all mails that fit, session by session. */
async function listRequests({ store }: Pick<Stage, 'store'>, query?: MailQuery): Promise<string> {
  const mails = await store.inbox.read(query);
  return ['s', 't']
    .flatMap((id) => mails.filter(({ sessionId }) => sessionId === id))
    .map(({ requestId }) => requestId)
    .join('');
}

/** Promises of the inbox of a store. */
export const inboxChecks: Readonly<Record<string, StoreCheck>> = {
  'keeps a mail until a write applies it': async ({ reopen, create, append, post }) => {
    await create('s');
    const mail = sampleMail('🦊 \'"', { at: 1001.5, body: '"\\u0000 ä"' });
    const posted = await post(mail.requestId, mail);
    same(posted, { ...mail, num: 1 }, 'mail');
    const other = await reopen();
    same(await other.inbox.read(), [posted], 'mails in another store');
    const kept = await post('kept');
    const entries = [sampleEntry(2, { requestId: mail.requestId })];
    same(await append('s', 2, { entries, mail: { num: 1 } }), { hasMail: true }, 'receipt of the write that applies the first');
    same(await other.inbox.read(), [kept], 'mails after the write');
    same((await other.log.findRequest('s', mail.requestId))?.n, 2, 'entry that answers it');
    same(await append('s', 3, { mail: { num: 2 } }), { hasMail: false }, 'receipt of the write that applies the second');
    same(await other.inbox.read(), [], 'mails after both');
  },
  'numbers the mails of each session from 1, in the order in which they were posted': async ({ store, reopen, create, append, post }) => {
    const other = await reopen();
    for (const id of ['s', 't']) await create(id);
    await Promise.all(['a', 'b', 'c'].map((id) => post(id)));
    const [first, second] = [await other.inbox.post(sampleMail('a', { sessionId: 't' })), await other.inbox.post(sampleMail('d'))];
    same([first?.num, second?.num], [1, 4], 'numbers of mails that were posted by another store');
    const found = (await store.inbox.read({ sessionId: 's' })).map(({ requestId, num }) => `${requestId}${num}`);
    same(found, ['a1', 'b2', 'c3', 'd4'], 'mails');
    for (const num of [1, 2, 3, 4]) await append('s', num + 1, { mail: { num } });
    same((await other.inbox.post(sampleMail('e')))?.num, 5, 'number of a mail after all others are gone');
    const twins = await Promise.all([store, other].map((each, index) => each.inbox.post(sampleMail(`f${index}`))));
    same(twins.map((mail) => mail?.num).sort(), [6, 7], 'numbers of mails that two stores posted in the same moment');
  },
  'names the last mail of a session while one waits': async ({ store, reopen, create, write, post }) => {
    const other = await reopen();
    const read = async () => [(await other.heads.read('s'))?.lastMail, (await other.log.load('s'))?.lastMail];
    await create('s');
    same(await read(), [undefined, undefined], 'last mail when there was none');
    for (const id of ['r', 'q']) await post(id);
    await write('s', 1, { mail: { num: 1, reply: '""' } });
    same(await read(), [2, 2], 'last mail while one waits');
    await write('s', 1, { mail: { num: 2 } });
    same([...(await read()), (await store.inbox.read()).length], [undefined, undefined, 1], 'last mail when none waits, and mails');
  },
  'keeps one mail for each request of a session': async ({ store, reopen, create, append, post }) => {
    for (const id of ['s', 't']) await create(id);
    const first = await post('r');
    const again = sampleMail('r', { at: 2000, body: '"other"' });
    const both = await Promise.all([store.inbox.post(again), (await reopen()).inbox.post(again)]);
    same(both, [first, first], 'mail that was posted again');
    const twins = await Promise.all([post('q'), post('q')]);
    same(twins[0], twins[1], 'mail that was posted twice in the same moment');
    await post('r', { sessionId: 't' });
    same(await listRequests({ store }), 'rqr', 'mails');
    await append('s', 2, { mail: { num: first.num, reply: '"no"' } });
    same(await store.inbox.post(again), { ...first, reply: '"no"' }, 'mail with a reply that was posted again');
    same((await append('s', 3)).hasMail, true, 'whether mail waits');
    same((await append('s', 4, { mail: { num: 2 } })).hasMail, false, 'whether mail waits after the last was applied');
  },
  'posts nothing if the log has the request': async ({ store, reopen, create, append }) => {
    await create('s', { entries: [sampleEntry(1, { requestId: 'r' })] });
    await create('t');
    const other = await reopen();
    same(await other.inbox.post(sampleMail('r')), undefined, 'mail for a request that the log has');
    const behind = [append('s', 2, { entries: [sampleEntry(2, { requestId: 'q' })] }), store.inbox.post(sampleMail('q'))] as const;
    same((await Promise.all(behind))[1], undefined, 'mail that was posted behind the write of its entry');
    same((await other.inbox.post(sampleMail('r', { sessionId: 't' })))?.num, 1, 'number of a mail of another session');
    same([await listRequests({ store }), (await append('s', 3)).hasMail], ['r', false], 'mails');
  },
  'refuses mail for a session that does not exist': async ({ store, create }) => {
    await assertRefused(store.inbox.post(sampleMail('r')), 'unknown-session', 'a mail');
    same(await store.inbox.read(), [], 'mails');
    const [, posted] = await Promise.all([create('s'), store.inbox.post(sampleMail('r'))]);
    same(posted?.num, 1, 'number of a mail that was posted behind the creation');
  },
  'makes a session at rest ready': async ({ createFree, join, post, claim, reopen, store }) => {
    await createFree('s', { isOpen: false });
    await join('v');
    same((await claim('v')).sessions, [], 'sessions that are claimed at rest');
    await (await reopen()).inbox.post(sampleMail('r'));
    await post('q');
    same((await store.heads.read('s'))?.fence, 1, 'fence after mails were posted');
    same((await claim('v')).sessions, [{ sessionId: 's', fence: 2, head: 1, attempts: 0, hasMail: true }], 'claimed sessions');
    same((await claim('v')).sessions, [], 'sessions that are claimed again');
  },
  'keeps a mail if the write that applies it is refused': async ({ store, create, append, post, refuses }) => {
    await create('s');
    const mail = { num: (await post('r')).num };
    await refuses(() => append('s', 3, { mail }), 'session-conflict', 'a write after entry 2 of 1');
    await refuses(
      () => append('s', 2, { mail, lease: { worker: 'w', fence: 2, type: 'held' } }),
      'lease-lost',
      'a write with another fence',
    );
    same([await listRequests({ store }), (await append('s', 2)).hasMail], ['r', true], 'mails');
  },
  'keeps the reply to a mail until it is dropped': async ({ store, reopen, create, append, write, post }) => {
    const other = await reopen();
    await create('s');
    const mail = await post('r');
    await post('q');
    const receipt = await append('s', 2, { mail: { num: mail.num, reply: '{"code":"x"}' } });
    same(receipt, { hasMail: true }, 'receipt of a write that refuses a mail');
    same(await other.inbox.read({ requestId: 'r' }), [{ ...mail, reply: '{"code":"x"}' }], 'mail with its reply');
    same(await write('s', 2, { mail: { num: 2, reply: '"no"' } }), { hasMail: false }, 'receipt of a write that only refuses a mail');
    same([await listRequests({ store }), await listRequests({ store }, { isWaiting: true })], ['rq', ''], 'mails, and those that wait');
    await write('s', 2, { dropsMail: [mail.num, 1000] });
    same(await listRequests({ store: other }), 'q', 'mails after one was dropped');
    same((await post('r')).num, 3, 'number of a mail that is posted after its reply was dropped');
  },
  'refuses a mail in the moment in which it is posted': async ({ store, create, append }) => {
    await create('s');
    const [posted] = await Promise.all([store.inbox.post(sampleMail('r')), append('s', 2, { mail: { num: 1, reply: '"no"' } })]);
    holds(posted !== undefined, 'the mail was not posted');
    same(await store.inbox.read(), [{ ...posted, reply: '"no"' }], 'mails');
  },
  'refuses a write that answers a mail that was not posted': async ({ store, create, append, post, refuses }) => {
    await create('s');
    await post('r');
    await refuses(() => append('s', 2, { mail: { num: 2 } }), 'invalid-argument', 'applying mail 2 of 1');
    await refuses(() => append('s', 2, { mail: { num: 0 } }), 'invalid-argument', 'applying mail 0');
    await assertRefused(create('t', { mail: { num: 1 } }), 'invalid-argument', 'a new session that applies a mail');
    same([await listRequests({ store }), (await append('s', 2)).hasMail], ['r', true], 'mails');
  },
  'keeps a write behind mail': async ({ store, create, append, write, post, refuses }) => {
    await create('s');
    const header = sampleHeader('s', { owner: 'x' });
    await append('s', 2, { isBehindMail: true });
    for (const id of ['r', 'q']) await post(id);
    const behind = { isBehindMail: true, header };
    await refuses(() => append('s', 3, behind), 'mail-waiting', 'a write behind mail');
    await refuses(
      () => append('s', 3, { ...behind, lease: { worker: 'w', fence: 2, type: 'held' } }),
      'lease-lost',
      'one with another fence',
    );
    same(await write('s', 2, { mail: { num: 1 } }), { hasMail: true }, 'receipt of a write that applies the first');
    await refuses(() => append('s', 3, behind), 'mail-waiting', 'a write behind the second mail');
    same(
      await write('s', 2, { isBehindMail: true, mail: { num: 2, reply: '""' } }),
      { hasMail: false },
      'receipt of a write that refuses the second',
    );
    await append('s', 3, behind);
    const [posted, late] = await Promise.allSettled([store.inbox.post(sampleMail('p')), append('s', 4, behind)]);
    same([posted.status, late.status], ['fulfilled', 'rejected'], 'a mail, and the write behind it in the same moment');
  },
  'finds mails by what is asked for': async ({ store, create, write, post }) => {
    for (const id of ['s', 't']) await create(id);
    for (const id of ['a', 'b', 'c', 'd']) await post(id, { sessionId: id < 'c' ? 's' : 't' });
    await write('s', 1, { mail: { num: 1, reply: '1' } });
    const questions: readonly (readonly [MailQuery, string])[] = [
      [{}, 'abcd'],
      [{ sessionId: 't' }, 'cd'],
      [{ sessionId: 'none' }, ''],
      [{ requestId: 'c' }, 'c'],
      [{ sessionId: 's', requestId: 'c' }, ''],
      [{ isWaiting: true }, 'bcd'],
      [{ isWaiting: false }, 'a'],
      [{ sessionId: 's', isWaiting: true }, 'b'],
      [{ sessionId: 't', limit: 1 }, 'c'],
      [{ includesDamaged: true }, 'abcd'],
    ];
    for (const [query, expected] of questions) same(await listRequests({ store }, query), expected, `mails for ${JSON.stringify(query)}`);
    same((await store.inbox.read({ limit: 3 })).length, 3, 'mails with a limit of 3');
    await assertRefused(store.inbox.read({ limit: 0 }), 'invalid-argument', 'a limit of 0');
  },
  'removes replies to mails from before a time': async ({ store, reopen, create, write, post }) => {
    await create('s');
    for (const [id, at] of Object.entries({ a: 1000, b: 2000, c: 3000, d: 1000 })) await post(id, { at });
    for (const num of [1, 2, 3]) await write('s', 1, { mail: { num, reply: '""' } });
    await store.inbox.prune(1000);
    same(await listRequests({ store }), 'abcd', 'mails after pruning those from before 1000');
    await store.inbox.prune(2001);
    same(await listRequests({ store: await reopen() }), 'cd', 'mails after pruning those from before 2001');
    same((await write('s', 1, {})).hasMail, true, 'whether mail waits');
  },
  'refuses a mail that makes no sense': async ({ store, create }) => {
    await create('s');
    await assertRefused(store.inbox.post(sampleMail('r', { at: Number.NaN })), 'invalid-argument', 'a time that is not a number');
    await assertRefused(store.inbox.post(sampleMail('\uD800')), 'invalid-argument', 'a request id that cannot be stored');
    same(await store.inbox.read(), [], 'mails');
  },
};
