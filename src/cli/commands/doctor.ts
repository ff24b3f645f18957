import { assertNever, pluralize } from '../../lib/index.ts';
import { listAll } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import { readAllMail } from '../copy/copy-mail.ts';
import { ExitCode } from '../exit-code.ts';
import type { StyleName } from '../render/style.ts';
import type { Column } from '../render/table.ts';
import { renderTable } from '../render/table.ts';
import { toJsonText } from '../render/text.ts';
import { toSize, toSpan, toTime } from '../render/time.ts';
import type { StoreFacts } from '../store/store-facts.ts';
import type { FoundWorker } from '../worker/find-worker.ts';
import { describeHolder, findWorker } from '../worker/find-worker.ts';

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

function judgeWorker(worker: FoundWorker, now: number): Finding {
  if (worker.type === 'none') return find('worker', 'note', 'nobody has the store');
  const since = `${describeHolder(worker.holder)} since ${toTime(worker.holder.claimedAt)} (${toSpan(now - worker.holder.claimedAt)})`;
  switch (worker.type) {
    case 'alive':
      return find('worker', 'ok', `${since}, heartbeat alive`);
    case 'silent':
      return find('worker', 'wrong', `${since}, but its heartbeat is silent: it hangs, or its machine is gone`);
    case 'gone':
      return find('worker', 'wrong', `${since}, but that process has ended without releasing the store`);
    default:
      return assertNever(worker);
  }
}

/** Numbers about all sessions. */
interface Census {
  count: number;
  open: number;
  oldestOpen: { readonly id: string; readonly since: number } | undefined;
  readonly damaged: { readonly id: string; readonly damage: string }[];
}

async function countSessions({ store, runtime }: CommandContext, deep: boolean): Promise<Census> {
  const census: Census = { count: 0, open: 0, oldestOpen: undefined, damaged: [] };
  for await (const { id, header, damage } of listAll(store, {})) {
    census.count += 1;
    if (damage !== undefined || header === undefined) census.damaged.push({ id, damage: damage ?? 'its header is missing' });
    else if (header.isOpen) {
      census.open += 1;
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

function judgeSessions({ count, open, oldestOpen, damaged }: Census, isWorking: boolean, now: number): readonly Finding[] {
  const age = oldestOpen === undefined ? '' : `; the oldest, ${oldestOpen.id}, was last written ${toSpan(now - oldestOpen.since)} ago`;
  const openText = `${pluralize(open, 'session')} open${age}`;
  return [
    find('sessions', 'ok', String(count)),
    open > 0 && !isWorking ? find('open steps', 'wrong', `${openText}; no worker runs them`) : find('open steps', 'ok', openText),
    damaged.length === 0
      ? find('damage', 'ok', 'none found')
      : find('damage', 'wrong', damaged.map(({ id, damage }) => `${id}: ${damage}`).join('; ')),
  ];
}

async function judgeMail({ store, clock }: CommandContext, isWorking: boolean): Promise<Finding> {
  let [count, damaged] = [0, 0];
  let oldest = Infinity;
  for await (const { at, reply, damage } of readAllMail(store, { includesDamaged: true })) {
    if (damage !== undefined) damaged += 1;
    if (reply !== undefined || damage !== undefined) continue;
    count += 1;
    oldest = Math.min(oldest, at);
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

/** Looks at a store, its worker, its sessions and its mailbox. */
export async function doctor(context: CommandContext, options: DoctorOptions): Promise<ExitCode> {
  const { store, clock, runtime } = context;
  const worker = await findWorker(store, clock);
  const isWorking = worker.type === 'alive';
  const census = await countSessions(context, options.deep === true);
  const holds = await runtime.holds();
  return print(context, [
    ...judgeStore(options),
    judgeWorker(worker, clock.now()),
    ...judgeSessions(census, isWorking, clock.now()),
    await judgeMail(context, isWorking),
    find(
      'holds',
      holds.length === 0 ? 'ok' : 'note',
      holds.length === 0 ? 'none' : holds.map(({ id, reason }) => `${id}: ${reason}`).join('; '),
    ),
  ]);
}
