import type { SessionQuery, SessionSummary, DamagedSession } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import type { StyleName } from '../render/style.ts';
import type { Column } from '../render/table.ts';
import { renderTable } from '../render/table.ts';
import { toJsonText } from '../render/text.ts';
import { toAge } from '../render/time.ts';

type Listed = SessionSummary | DamagedSession;

const isDamaged = (session: Listed): session is DamagedSession => 'damage' in session;

const colours: Readonly<Record<string, StyleName>> = { waiting: 'yellow', failed: 'red', in_progress: 'cyan', damaged: 'red' };

export const getStatusStyle = (status: string): StyleName | undefined => colours[status];

const getStatus = (session: Listed): string => (isDamaged(session) ? 'damaged' : session.status);

/** Says in a few words why a session is not running. */
function describeRest(session: Listed): string {
  if (isDamaged(session)) return session.damage;
  const { waitingFor, stopReason } = session;
  if (waitingFor.length === 0) return stopReason ?? '';
  return [...new Set(waitingFor.map(({ type, toolName }) => (toolName === undefined ? type : `${type}: ${toolName}`)))].join(', ');
}

const read =
  (value: (session: SessionSummary) => string) =>
  (session: Listed): string =>
    isDamaged(session) ? '' : value(session);

function createColumns(now: number, sessions: readonly Listed[]): readonly Column<Listed>[] {
  const columns: readonly Column<Listed>[] = [
    { title: 'SESSION', value: ({ id }) => id },
    { title: 'STATUS', value: getStatus, style: (session) => getStatusStyle(getStatus(session)) },
    { title: 'BECAUSE', value: describeRest, fit: 'cut' },
    { title: 'STEPS', value: read(({ stepCount }) => String(stepCount)), align: 'right' },
    { title: 'UPDATED', value: read(({ updatedAt }) => toAge(updatedAt, now)), align: 'right' },
    { title: 'AGENT', value: read(({ agent }) => agent.id), fit: 'cut' },
    { title: 'TENANT', value: read(({ tenant }) => tenant ?? ''), fit: 'drop' },
    { title: 'OWNER', value: read(({ owner }) => owner ?? ''), fit: 'drop' },
    { title: 'TAGS', value: read(({ tags }) => tags.join(',')), fit: 'drop' },
  ];
  return columns.filter(({ fit, value }) => fit !== 'drop' || sessions.some((session) => value(session) !== ''));
}

/** Lists sessions, newest first. */
export async function listSessions(context: CommandContext, query: SessionQuery): Promise<ExitCode> {
  const { runtime, output, clock } = context;
  const { sessions, cursor } = await runtime.list(query);
  if (output.isJson) {
    output.print(toJsonText({ sessions, ...(cursor !== undefined && { cursor }) }));
    return ExitCode.Ok;
  }
  if (sessions.length === 0) output.print('No sessions.');
  else output.print(renderTable(sessions, createColumns(clock.now(), sessions), output.page));
  if (cursor !== undefined) output.note(`There are more. Continue with --cursor ${cursor}, or raise --limit.`);
  return ExitCode.Ok;
}
