// The sessions whose rows are kept here: every kind of row, and every kind of entry.
import { DatabaseSync } from 'node:sqlite';
import type { Agent } from '../../src/entry/index.ts';
import { writeMail } from '../../src/sessions/core/mail.ts';
import { toWire } from '../../src/sessions/core/wire-errors.ts';
import type { EmbeddedRuntime, WorkerInfo } from '../../src/sessions/index.ts';
import { storedColumns, UnknownSessionError } from '../../src/sessions/index.ts';
import { applicationId } from '../../src/sessions/sqlite/tables.ts';
import type { Stage } from '../sessions/stage.ts';
import { ann, bob, createGate, sqlitePlace, stageOn, getWait } from '../sessions/stage.ts';

/** A database as data. */
export interface StoredRows {
  /** Statements that create its tables. */
  readonly schema: readonly string[];
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, string | number | null>>[]>>;
}

/** The agents that the sessions are of. */
export const listAgents = ({ agent }: Pick<Stage, 'agent'>): readonly Agent[] => [
  agent({ limits: { steps: 3, onLimit: 'pause' } }),
  agent({ id: 'short', limits: { steps: 1 } }),
];

/** Runs sessions in a file until one of them is in the middle of a step. Comes out the same every time. */
export async function writeSessions(path: string): Promise<void> {
  const stage = stageOn(sqlitePlace(path));
  const store = stage.place.open();
  const runtime = stage.start({ agents: listAgents(stage), store });
  const by = { by: ann };
  await runtime.create({ id: 'talk', agent: 'desk', tenant: 't', owner: 'ann', tags: ['ö', 'b'] }, { by: bob, requestId: 'create talk' });
  const { state } = await runtime.send('talk', 'look 1; say Found.', by);
  await runtime.send('talk', 'pay 5 & note 1; say Paid.', by);
  await runtime.approve('talk', await getWait(runtime, 'talk'), { by: bob, args: { amount: 4 } });
  await runtime.send('talk', 'pay 6; say Well.', by);
  await runtime.reject('talk', await getWait(runtime, 'talk'), { by: bob, reason: 'too much' });
  await runtime.send('talk', 'ask 1; broken 1; say Thanks.', by);
  await runtime.answer('talk', await getWait(runtime, 'talk'), { ...by, value: { seen: true } });
  await runtime.send('talk', 'look 1; look 2; look 3; say Enough.', by);
  await runtime.grant('talk', { steps: 2 }, { by: bob });
  await runtime.fork('talk', { execution: 1, step: 1 }, { by: bob, id: 'fork' });
  await runtime.resume('fork', by);
  await runtime.send('fork', 'look 4; look 5; look 6; say Enough.', by);
  await runtime.cancel('fork', 'changed my mind', by);
  await runtime.send('fork', 'pay 8', by);
  await runtime.eraseMessage('talk', String(state.messages.toArray()[0]?.id), { by: bob });
  await runtime.create({ id: 'gone', agent: 'desk' }, by);
  await runtime.delete('gone', by);
  await runtime.hold({ tenant: 'other' }, 'the budget is spent', by);
  await openStep(stage, runtime, { id: 'joined', agent: 'short' });
  stage.gate.current.open();
  await runtime.send('joined', 'say The end.', by);
  await refuseGrant(stage, runtime);
  stage.gate.current = createGate();
  await openStep(stage, runtime, { id: 'open', agent: 'desk' });
  // From here on, it is as if this process was killed.
  await store.close();
  await writeOthers(stage);
}

/** Asks for more steps during the last one, which is refused at its end. */
async function refuseGrant(stage: Stage, runtime: EmbeddedRuntime): Promise<void> {
  stage.gate.current = createGate();
  const sent = runtime.send('joined', 'slow 2', { by: ann });
  await stage.gate.current.reached;
  const granted = runtime.grant('joined', { steps: 1 }, { by: bob, until: 'accepted' }).catch(() => undefined);
  await granted;
  stage.gate.current.open();
  await Promise.all([sent, granted]);
}

/** Leaves a session in the middle of a step, with actions that wait for its end. */
async function openStep(
  { gate }: Stage,
  runtime: EmbeddedRuntime,
  session: { readonly id: string; readonly agent: string },
): Promise<void> {
  const { id } = session;
  await runtime.create(session, { by: ann });
  void runtime.send(id, 'look 1 & slow 1; say Late.', { by: ann, requestId: 'slow' }).catch(() => undefined);
  await gate.current.reached;
  void runtime.grant(id, { steps: 1 }, { by: bob }).catch(() => undefined);
  await runtime.send(id, 'say And more.', { by: ann, until: 'accepted' });
}

/** Writes the rows that another process writes. */
async function writeOthers({ place, clock }: Stage): Promise<void> {
  const store = place.open();
  const at = clock.now();
  const body = writeMail({ request: { type: 'cancel', reason: 'not needed' }, by: bob });
  await store.inbox.post({ sessionId: 'talk', requestId: 'm1', at, body });
  const { head, fence } = (await store.heads.read('joined')) ?? { head: 0, fence: 0 };
  const posted = await store.inbox.post({ sessionId: 'joined', requestId: 'm2', at: at + 0.5, body });
  const mail = { num: posted?.num ?? 0, reply: JSON.stringify(toWire(new UnknownSessionError('none'))) };
  await store.log.write({ sessionId: 'joined', lease: { worker: 'w', fence, type: 'free' }, keepsLease: false, after: head, mail });
  await store.notes.write({ name: 'delivery/desk/state', version: 0, body: '{"cursor":"f1","behind":[]}' });
  const behind = { sessionId: 'talk', afterSeq: 1, skippedSeq: 2, attempts: 1, retryAt: 1, error: 'no answer' };
  await store.notes.write({ name: 'delivery/desk/behind/talk', version: 0, body: JSON.stringify(behind), sessionId: 'talk' });
  await store.heads.quarantine('fork', 'its state cannot be read');
}

/** Names the workers of a dump alike each time, and leaves out of it when and where they ran. */
function stabilize(rows: StoredRows['rows']): StoredRows['rows'] {
  const { heads = [], workers = [] } = rows;
  const known = workers.map((row) => {
    const { id, joinedAt, agents } = JSON.parse(String(row['body'])) as WorkerInfo;
    return { ...row, beat_at: 0, body: JSON.stringify({ id, joinedAt, agents }) };
  });
  let text = JSON.stringify({ ...rows, heads: heads.map((row) => ({ ...row, ready_at: 0 })), workers: known });
  for (const [index, { id }] of workers.entries()) text = text.replaceAll(String(id), `worker-${index + 1}`);
  // Holds: the store writes texts, numbers and nulls.
  return JSON.parse(text) as StoredRows['rows'];
}

/** Reads everything from a file, without what SQLite keeps for itself. */
export function dumpRows(path: string): StoredRows {
  const database = new DatabaseSync(path, { readOnly: true });
  const read = (table: string) => database.prepare(`SELECT * FROM ${table} ORDER BY rowid`).all();
  const statements = database
    .prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    .all();
  const rows = Object.fromEntries([...Object.keys(storedColumns), 'workers'].map((table) => [table, read(table)]));
  database.close();
  const schema = statements.map(({ sql }) => String(sql).replace(/\s+/g, ' '));
  // Holds: the store writes texts, numbers and nulls.
  return { schema, rows: stabilize(rows as StoredRows['rows']) };
}

/** Makes a file of the rows. */
export function restoreRows(path: string, { schema, rows }: StoredRows): void {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA application_id = ${applicationId}; ${schema.join(';')}`);
  for (const [table, each] of Object.entries(rows))
    for (const row of each) {
      const columns = Object.keys(row);
      const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
      database.prepare(text).run(...Object.values(row));
    }
  database.close();
}
