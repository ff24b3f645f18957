import { pluralize } from '../../lib/index.ts';
import { listAll } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import type { StyleName } from '../render/style.ts';
import type { Column } from '../render/table.ts';
import { renderTable } from '../render/table.ts';
import { toJsonText } from '../render/text.ts';
import { toSize, toSpan, toTime } from '../render/time.ts';
import type { StoreFacts } from '../store/store-facts.ts';
import type { FoundWorker } from '../worker/find-workers.ts';
import { describeWorker, findWorkers, isAlive } from '../worker/find-workers.ts';

/** One thing that was looked at. */
interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'note' | 'wrong';
  readonly text: string;
}

export interface DoctorOptions {
  /** Description of the place. */
  readonly place: string;
  readonly facts: StoreFacts;
  /** Reads every session, and not only the list. */
  readonly deep?: boolean;
}

/** Longest time that a mail may wait for a live worker. */
const mailMs = 60_000;

const find = (check: string, state: Finding['state'], text: string): Finding => ({ check, state, text });

function judgeStore({ place, facts }: DoctorOptions): readonly Finding[] {
  if (facts.type !== 'store') return [find('store', 'wrong', facts.problem)];
  return [find('store', 'ok', place), find('schema', 'ok', `version ${facts.schema}`), find('size', 'ok', toSize(facts.bytes))];
}

/** Judges a worker that is not alive: its sessions stand still until others take them. */
function judgeLost(worker: FoundWorker): Finding {
  const { state, sessions } = worker;
  const why = state === 'silent' ? 'it hangs, or its machine is gone' : 'it has ended without leaving';
  const text = `${describeWorker(worker)}: no sign of life for ${toSpan(worker.silentMs)}: ${why}; it has ${pluralize(sessions, 'session')}`;
  return find('worker', sessions > 0 ? 'wrong' : 'note', text);
}

function judgeWorkers(workers: readonly FoundWorker[], now: number): readonly Finding[] {
  if (workers.length === 0) return [find('worker', 'note', 'nobody runs the sessions')];
  return workers.map((worker) => {
    if (!isAlive(worker)) return judgeLost(worker);
    const since = `${describeWorker(worker)} since ${toTime(worker.joinedAt)} (${toSpan(now - worker.joinedAt)})`;
    return find('worker', 'ok', `${since}, alive, runs ${worker.agents.join(', ')}; it has ${pluralize(worker.sessions, 'session')}`);
  });
}

/** Numbers about all sessions. */
interface Census {
  count: number;
  open: number;
  oldestOpen: { readonly id: string; readonly since: number } | undefined;
  /** Agents of open sessions. */
  readonly openAgents: Set<string>;
  readonly damaged: { readonly id: string; readonly damage: string }[];
}

async function countSessions({ store, runtime }: CommandContext, deep: boolean): Promise<Census> {
  const census: Census = { count: 0, open: 0, oldestOpen: undefined, openAgents: new Set(), damaged: [] };
  for await (const { id, header, damage } of listAll(store, {})) {
    census.count += 1;
    if (damage !== undefined || header === undefined) census.damaged.push({ id, damage: damage ?? 'its header is missing' });
    else if (header.isOpen) {
      census.open += 1;
      census.openAgents.add(header.agentName);
      if (census.oldestOpen === undefined || header.updatedAt < census.oldestOpen.since)
        census.oldestOpen = { id, since: header.updatedAt };
    }
    if (deep && damage === undefined)
      await runtime
        .get(id)
        .catch((error: unknown) => census.damaged.push({ id, damage: error instanceof Error ? error.message : String(error) }));
  }
  return census;
}

function judgeSessions(
  { count, open, openAgents, oldestOpen, damaged }: Census,
  living: readonly FoundWorker[],
  now: number,
): readonly Finding[] {
  const age = oldestOpen === undefined ? '' : `; the oldest, ${oldestOpen.id}, was last written ${toSpan(now - oldestOpen.since)} ago`;
  const openText = `${pluralize(open, 'session')} open${age}`;
  const missing = [...openAgents].filter((name) => !living.some(({ agents }) => agents.includes(name)));
  const problem = living.length === 0 ? 'no worker runs them' : `no worker runs ${missing.join(', ')}`;
  return [
    find('sessions', 'ok', String(count)),
    missing.length > 0 ? find('open steps', 'wrong', `${openText}; ${problem}`) : find('open steps', 'ok', openText),
    damaged.length === 0
      ? find('damage', 'ok', 'none found')
      : find('damage', 'wrong', damaged.map(({ id, damage }) => `${id}: ${damage}`).join('; ')),
  ];
}

/** Most actions of a kind that are counted. */
const mostMail = 10_000;

async function judgeMail({ store, clock }: CommandContext, isWorking: boolean): Promise<Finding> {
  let [count, damaged] = [0, 0];
  let oldest = Infinity;
  for (const isWaiting of [true, false])
    for (const { at, damage } of await store.inbox.read({ isWaiting, includesDamaged: true, limit: mostMail })) {
      if (damage !== undefined) damaged += 1;
      else if (isWaiting) {
        count += 1;
        oldest = Math.min(oldest, at);
      }
    }
  if (damaged > 0)
    return find(
      'mailbox',
      'wrong',
      `${pluralize(damaged, 'damaged action')}, never applied; whoever asked can send the same request again`,
    );
  if (count === 0) return find('mailbox', 'ok', 'empty');
  const age = clock.now() - oldest;
  const text = `${pluralize(count, 'action')} waiting, the oldest for ${toSpan(age)}`;
  if (!isWorking) return find('mailbox', 'wrong', `${text}; no worker applies them`);
  return find('mailbox', age > mailMs ? 'wrong' : 'ok', text);
}

const styles: Readonly<Record<Finding['state'], StyleName | undefined>> = { ok: 'green', note: undefined, wrong: 'red' };

const columns: readonly Column<Finding>[] = [
  { title: 'CHECK', value: ({ check }) => check },
  { title: 'STATE', value: ({ state }) => state, style: ({ state }) => styles[state] },
  { title: 'FOUND', value: ({ text }) => text, fit: 'wrap' },
];

function print({ output }: Pick<CommandContext, 'output'>, findings: readonly Finding[]): ExitCode {
  const isWrong = findings.some(({ state }) => state === 'wrong');
  if (output.isJson) output.print(toJsonText({ isHealthy: !isWrong, findings }));
  else output.print(renderTable(findings, columns, output.page));
  return isWrong ? ExitCode.Failed : ExitCode.Ok;
}

/** Reports that there is no store to look at. */
export const reportNoStore = (context: Pick<CommandContext, 'output'>, options: DoctorOptions): ExitCode =>
  print(context, judgeStore(options));

/** Looks at a store, its workers, its sessions and its mailbox. */
export async function doctor(context: CommandContext, options: DoctorOptions): Promise<ExitCode> {
  const { store, clock, runtime } = context;
  const workers = await findWorkers(store);
  const living = workers.filter(isAlive);
  const census = await countSessions(context, options.deep === true);
  const holds = await runtime.holds();
  return print(context, [
    ...judgeStore(options),
    ...judgeWorkers(workers, clock.now()),
    ...judgeSessions(census, living, clock.now()),
    await judgeMail(context, living.length > 0),
    find(
      'holds',
      holds.length === 0 ? 'ok' : 'note',
      holds.length === 0 ? 'none' : holds.map(({ id, reason }) => `${id}: ${reason}`).join('; '),
    ),
  ]);
}
