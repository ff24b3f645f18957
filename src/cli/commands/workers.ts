import { omitUndefined } from '../../lib/index.ts';
import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import type { StyleName } from '../render/style.ts';
import type { Column } from '../render/table.ts';
import { renderTable } from '../render/table.ts';
import { toJsonText } from '../render/text.ts';
import { toAge } from '../render/time.ts';
import type { FoundWorker, WorkerState } from '../worker/find-workers.ts';
import { describeProcess, findWorkers, isAlive } from '../worker/find-workers.ts';

const styles: Readonly<Record<WorkerState, StyleName>> = { alive: 'green', silent: 'red', gone: 'red' };

function describeConnection({ isConnected }: FoundWorker): string {
  if (isConnected === undefined) return '';
  return isConnected ? 'open' : 'lost';
}

const columns: readonly Column<FoundWorker>[] = [
  { title: 'WORKER', value: (worker) => worker.name ?? describeProcess(worker) },
  { title: 'STATE', value: ({ state }) => state, style: ({ state }) => styles[state] },
  { title: 'SESSIONS', value: ({ sessions }) => String(sessions), align: 'right' },
  { title: 'ROOM', value: ({ room }) => String(room), align: 'right' },
  { title: 'LAST SIGN', value: ({ silentMs }) => toAge(0, silentMs), align: 'right' },
  { title: 'CONNECTION', value: describeConnection },
  { title: 'AGENTS', value: ({ agents }) => agents.join(', '), fit: 'wrap' },
  { title: 'PROCESS', value: (worker) => (worker.name === undefined ? '' : describeProcess(worker)), fit: 'cut' },
];

const toJson = ({ id, name, pid, host, joinedAt, agents, state, sessions, room, silentMs, isConnected }: FoundWorker): object =>
  omitUndefined({ id, name, pid, host, joinedAt, agents, state, sessions, room, silentMs, isConnected });

/** Lists the workers of a store: who runs what. */
export async function listWorkers({ store, output }: CommandContext): Promise<ExitCode> {
  const workers = await findWorkers(store);
  if (output.isJson) output.print(toJsonText({ workers: workers.map(toJson) }));
  else if (workers.length === 0) output.print('No workers: nobody runs the sessions of this store.');
  else {
    const shown = columns.filter(({ title, value }) => title !== 'CONNECTION' || workers.some((worker) => value(worker) !== ''));
    output.print(renderTable(workers, shown, output.page));
    if (!workers.some(isAlive)) output.note('No worker is alive: nobody runs the sessions of this store.');
  }
  return ExitCode.Ok;
}
