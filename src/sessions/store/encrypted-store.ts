// A store whose texts are encrypted on the way in and decrypted on the way out.
// Owns:     the order in which the writes of a session reach the store below, although encrypting them takes time.
// Does not: have a key, or encrypt what sessions are found by: ids, request ids, tenant, owner, tags, status, times, numbers, keys.
// C1. Whatever can hold words of people or models reaches the store below encrypted.
// C2. Writes of one session reach it in the order in which they were asked for. Those of different sessions do not wait for each other.
// C3. A text that cannot be decrypted is damage of its session; all others can be read.
import { checkKeys, describeValue, InvalidArgumentError, isRecord, omitUndefined, SteplineError } from '../../lib/index.ts';
import { StoreUnavailableError } from '../core/errors.ts';
import type { Encryption } from './cipher.ts';
import { Cipher } from './cipher.ts';
import { HandOver } from './hand-over.ts';
import type {
  FeedEntry,
  Heads,
  Inbox,
  ListedSession,
  Log,
  Mail,
  Notes,
  SessionStore,
  SessionWrite,
  StoredNote,
  StoredSession,
} from './session-store.ts';

async function encryptWrite(cipher: Cipher, write: SessionWrite): Promise<SessionWrite> {
  const { header, entries, rewrites, effects, mail, ...rest } = write;
  const reply = mail?.reply;
  const [safeHeader, safeEntries, safeRewrites, safeEffects, safeReply] = await Promise.all([
    header && cipher.encryptHeader(header),
    entries && Promise.all(entries.map((entry) => cipher.encryptEntry(entry))),
    rewrites && Promise.all(rewrites.map((entry) => cipher.encryptEntry(entry))),
    effects && Promise.all(effects.map((row) => cipher.encryptEffect(row))),
    reply === undefined ? undefined : cipher.encrypt(reply),
  ]);
  const safeMail = mail && { num: mail.num, ...omitUndefined({ reply: safeReply }) };
  return {
    ...rest,
    ...omitUndefined({ header: safeHeader, entries: safeEntries, rewrites: safeRewrites, effects: safeEffects, mail: safeMail }),
  };
}

async function decryptSession(cipher: Cipher, id: string, stored: StoredSession): Promise<StoredSession> {
  const [header, entries, effects] = await Promise.all([
    cipher.decryptHeader(stored.header),
    Promise.all(stored.entries.map((entry) => cipher.decryptEntry(id, entry))),
    Promise.all(stored.effects.map((row) => cipher.decryptEffect(id, row))),
  ]);
  return { ...stored, header, entries, effects };
}

/** Runs `read`; returns what `otherwise` says if that found damage. */
async function orIfDamaged<Value>(read: () => Promise<Value>, otherwise: (damage: string) => Value): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (!SteplineError.is(error) || error.code !== 'session-damaged' || !('damage' in error)) throw error;
    return otherwise(String(error.damage));
  }
}

async function decryptListed(cipher: Cipher, { id, header, damage }: ListedSession): Promise<ListedSession> {
  const known =
    damage === undefined || !Cipher.isEncrypted(damage)
      ? damage
      : await orIfDamaged(
          () => cipher.decryptSessionText(id, 'the note of its damage', damage),
          (why) => why,
        );
  return orIfDamaged<ListedSession>(
    async () => omitUndefined({ id, header: header && (await cipher.decryptHeader(header)), damage: known }),
    (why) => ({ id, damage: known ?? why }),
  );
}

async function decryptMail(cipher: Cipher, mail: Mail): Promise<Mail> {
  if (mail.damage !== undefined) return mail;
  const { sessionId, num } = mail;
  const [body, reply] = await Promise.all([
    cipher.decryptSessionText(sessionId, `mail ${num}`, mail.body),
    mail.reply === undefined ? undefined : cipher.decryptSessionText(sessionId, `the reply to mail ${num}`, mail.reply),
  ]);
  return { ...mail, body, ...omitUndefined({ reply }) };
}

/** An entry that cannot be decrypted is damage of its session. */
async function decryptFed(cipher: Cipher, fed: FeedEntry): Promise<FeedEntry> {
  if ('damage' in fed) return fed;
  const { cursor, sessionId } = fed;
  return orIfDamaged<FeedEntry>(
    async () => {
      const [header, entry] = await Promise.all([cipher.decryptHeader(fed.header), cipher.decryptEntry(sessionId, fed.entry)]);
      return { cursor, sessionId, header, entry };
    },
    (damage) => ({ cursor, sessionId, damage }),
  );
}

async function decryptNote(cipher: Cipher, note: StoredNote): Promise<StoredNote> {
  const toError = (why: string, cause?: unknown): Error =>
    new StoreUnavailableError('failed', { what: `note "${note.name}" ${why}`, advice: 'Check the key.' }, cause);
  return { ...note, body: await cipher.decrypt(note.body, toError) };
}

const isEncryption = (value: unknown): value is Encryption =>
  isRecord(value) && typeof value['encrypt'] === 'function' && typeof value['decrypt'] === 'function';

function encryptLog(log: Log, cipher: Cipher, order: HandOver): Log {
  return {
    load: async (sessionId) => {
      const stored = await log.load(sessionId);
      return stored && decryptSession(cipher, sessionId, stored);
    },
    entries: async (sessionId, query) => {
      const entries = await log.entries(sessionId, query);
      return Promise.all(entries.map((entry) => cipher.decryptEntry(sessionId, entry)));
    },
    findRequest: async (sessionId, requestId) => {
      const entry = await log.findRequest(sessionId, requestId);
      return entry && cipher.decryptEntry(sessionId, entry);
    },
    effects: async (sessionId, query) => {
      const open = await log.effects(sessionId, query);
      if (open === undefined) return undefined;
      const [header, effects] = await Promise.all([
        cipher.decryptHeader(open.header),
        Promise.all(open.effects.map((row) => cipher.decryptEffect(sessionId, row))),
      ]);
      return { ...open, header, effects };
    },
    write: (write) => order.pass(`session ${write.sessionId}`, encryptWrite(cipher, write), (safe) => log.write(safe)),
    delete: (deletion) => order.pass(`session ${deletion.sessionId}`, { ...deletion }, (safe) => log.delete(safe)),
  };
}

function encryptHeads(heads: Heads, cipher: Cipher, order: HandOver): Heads {
  return {
    read: async (sessionId) => {
      const head = await heads.read(sessionId);
      return head && { ...head, header: await cipher.decryptHeader(head.header) };
    },
    list: async (query) => {
      const page = await heads.list(query);
      return { ...page, sessions: await Promise.all(page.sessions.map((listed) => decryptListed(cipher, listed))) };
    },
    quarantine: (id, damage) =>
      order.pass(`session ${id}`, damage === undefined ? undefined : cipher.encrypt(damage), (safe) => heads.quarantine(id, safe)),
  };
}

function encryptInbox(inbox: Inbox, cipher: Cipher, order: HandOver): Inbox {
  return {
    post: async (mail) => {
      const copy = { ...mail };
      const encrypted = cipher.encrypt(copy.body);
      const posted = await order.pass(`session ${copy.sessionId}`, encrypted, (body) => inbox.post({ ...copy, body }));
      return posted && decryptMail(cipher, posted);
    },
    read: async (query = {}) => {
      const mails = await inbox.read(query);
      // One that cannot be decrypted must not hide those of other sessions: its reader finds that it is not JSON.
      const readAny = (mail: Mail): Promise<Mail> =>
        orIfDamaged(
          () => decryptMail(cipher, mail),
          () => mail,
        );
      return Promise.all(mails.map((mail) => (query.sessionId === undefined ? readAny(mail) : decryptMail(cipher, mail))));
    },
    prune: (before) => inbox.prune(before),
  };
}

function encryptNotes(notes: Notes, cipher: Cipher, order: HandOver): Notes {
  return {
    read: async (name) => {
      const note = await notes.read(name);
      return note && decryptNote(cipher, note);
    },
    list: async (query) => Promise.all((await notes.list(query)).map((note) => decryptNote(cipher, note))),
    write: ({ body, ...note }) =>
      order.pass(`note ${note.name}`, body === undefined ? undefined : cipher.encrypt(body), (safe) =>
        notes.write({ ...note, ...omitUndefined({ body: safe }) }),
      ),
  };
}

/**
 * Encrypts what a store keeps of people's and models' words: bodies and events of entries, effects, details of headers, mails and their
 * replies, notes. What sessions are found by stays plain: ids, request ids, tenant, owner, tags, status, times, keys.
 */
export function encryptStore(store: SessionStore, encryption: Encryption): SessionStore {
  if (!isRecord(store) || !isRecord(store['log']))
    throw new InvalidArgumentError(`encryptStore() needs a store as its first argument, not ${describeValue(store)}.`);
  if (isRecord(encryption)) checkKeys('encryptStore()', encryption, ['encrypt', 'decrypt', 'allowsPlain']);
  if (!isEncryption(encryption))
    throw new InvalidArgumentError('encryptStore() needs { encrypt, decrypt }: two functions that take a string and return one.');
  const cipher = new Cipher(encryption);
  const order = new HandOver();
  let closing: Promise<void> | undefined;
  const { feed } = store;
  return {
    log: encryptLog(store.log, cipher, order),
    heads: encryptHeads(store.heads, cipher, order),
    leases: store.leases,
    inbox: encryptInbox(store.inbox, cipher, order),
    notes: encryptNotes(store.notes, cipher, order),
    feed: {
      read: async (query) => {
        const page = await feed.read(query);
        return { ...page, entries: await Promise.all(page.entries.map((fed) => decryptFed(cipher, fed))) };
      },
    },
    changes: store.changes,
    close: () => (closing ??= order.close().then(() => store.close())),
  };
}
