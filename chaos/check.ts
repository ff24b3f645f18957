// Everything that must hold after the work, whatever happened during it.
import { checkLog, readLog } from './check-log.ts';
import { checkSessions } from './check-sessions.ts';
import type { Figure } from './figures.ts';
import { none } from './figures.ts';
import { sessionIds } from './plan.ts';
import type { HeardTurn } from './records.ts';
import { readDeeds, readSeen } from './records.ts';

function checkTurns(turns: readonly HeardTurn[], ids: readonly string[]): readonly Figure[] {
  const isRight = ({ execution, status, text }: HeardTurn): boolean =>
    execution === 1 && status === 'completed' && text.startsWith('All done');
  const heard = new Set(turns.map(({ session }) => session));
  return [
    none(
      'clients that heard nothing of their session',
      ids.filter((id) => !heard.has(id)),
    ),
    none(
      'clients that heard something wrong',
      turns.filter((turn) => !isRight(turn)).map((turn) => JSON.stringify(turn)),
    ),
  ];
}

export async function check(
  folder: string,
  { sessions, steps }: { readonly sessions: number; readonly steps: number },
): Promise<readonly Figure[]> {
  const expected = { ids: sessionIds(sessions), steps };
  const { entries, turns } = readSeen(folder);
  return [
    ...checkLog(readLog(folder), entries, expected),
    ...(await checkSessions(folder, readDeeds(folder), expected)),
    ...checkTurns(turns, expected.ids),
  ];
}
