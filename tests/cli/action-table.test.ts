// The commands that act on sessions, in every situation: what the table of actions says is what the command ends with.
import { expect, test } from 'vitest';
import { answer, approve, reject } from '../../src/cli/commands/answer.ts';
import { deleteSession } from '../../src/cli/commands/delete.ts';
import { cancel, grant, resume } from '../../src/cli/commands/execution.ts';
import type { CommandContext } from '../../src/cli/command-context.ts';
import { ExitCode } from '../../src/cli/exit-code.ts';
import { toExitCode } from '../../src/cli/failures.ts';
import type { ActionAnswer } from '../../src/sessions/core/action-table.ts';
import type { ReachedSession, Situation } from '../sessions/conditions.ts';
import { listCells, reach } from '../sessions/conditions.ts';
import { until } from '../sessions/stage.ts';
import { connectTo } from './cli-stage.ts';

type Command = (context: CommandContext, session: ReachedSession) => Promise<ExitCode>;

const commands = {
  approve: (context, { id, wait }) => approve(context, { sessionId: id, waitId: wait.id }, { digest: wait.digest }),
  reject: (context, { id, wait }) => reject(context, { sessionId: id, waitId: wait.id }, { reason: 'no' }),
  answer: (context, { id, wait }) => answer(context, { sessionId: id, waitId: wait.id }, { value: 'blue' }),
  grant: (context, { id }) => grant(context, id, { steps: 5 }),
  cancel: (context, { id }) => cancel(context, id, 'enough'),
  resume: (context, { id }) => resume(context, id),
  delete: (context, { id }) => deleteSession(context, id, { yes: true }),
} as const satisfies Readonly<Record<string, Command>>;

type CommandName = keyof typeof commands;

// Holds: these are its keys.
const names = Object.keys(commands) as readonly CommandName[];

function toExpected(situation: Situation, name: CommandName, answered: ActionAnswer): ExitCode {
  if (situation === 'unknown' || situation === 'deleted') return ExitCode.NotFound;
  // The command shows what it deletes, so it has to be readable.
  if (situation === 'damaged') return ExitCode.Failed;
  // Queued behind the open step, which then asks for nothing.
  if (answered === 'queued') return name === 'reject' || name === 'answer' ? ExitCode.Refused : ExitCode.Ok;
  return answered === 'applied' || answered === 'ignored' ? ExitCode.Ok : ExitCode.Refused;
}

test.each(listCells(names))('%s: stepline %s, where the table says %s', async (situation, type, answered) => {
  // Holds: only these were listed.
  const name = type as CommandName;
  const session = await reach(situation);
  const { context } = connectTo(session.place);
  const ended = commands[name](context, session).catch((error: unknown) => toExitCode(error));
  if (answered === 'queued') {
    await until(async () => expect(await session.worker.actions('s')).toHaveLength(3));
    await session.release();
  }
  expect(await ended).toBe(toExpected(situation, name, answered));
});
