import type { Hold, HoldScope } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import { notFoundError } from '../failures.ts';
import type { Column } from '../render/table.ts';
import { renderTable } from '../render/table.ts';
import { toJsonText, toLine } from '../render/text.ts';
import { toTime } from '../render/time.ts';

function describeScope({ tenant, agent }: HoldScope): string {
  const parts = [...(tenant === undefined ? [] : [`tenant ${tenant}`]), ...(agent === undefined ? [] : [`agent ${agent}`])];
  return parts.length === 0 ? 'all sessions' : parts.join(', ');
}

const columns: readonly Column<Hold>[] = [
  { title: 'HOLD', value: ({ id }) => id },
  { title: 'SCOPE', value: describeScope, fit: 'cut' },
  { title: 'SINCE', value: ({ at }) => toTime(at) },
  { title: 'BY', value: ({ by }) => by?.id ?? '', fit: 'cut' },
  { title: 'REASON', value: ({ reason }) => reason, fit: 'wrap' },
];

/** Keeps sessions from starting model calls. Needs no worker. */
export async function hold(context: CommandContext, scope: HoldScope, reason: string): Promise<ExitCode> {
  const { runtime, output, by } = context;
  const made = await runtime.hold(scope, reason, { by });
  if (output.isJson) output.print(toJsonText(made));
  else output.print(toLine(`Held ${describeScope(made)}: no model calls start until you run stepline release ${made.id}`));
  return ExitCode.Ok;
}

/** Releases a hold. */
export async function release({ runtime, output }: CommandContext, holdId: string): Promise<ExitCode> {
  if (!(await runtime.release(holdId))) throw notFoundError(`There is no hold "${holdId}". Run stepline holds to list them.`);
  output.print(output.isJson ? toJsonText({ action: 'release', holdId }) : toLine(`Released ${holdId}.`));
  return ExitCode.Ok;
}

/** Lists all holds. */
export async function listHolds({ runtime, output }: CommandContext): Promise<ExitCode> {
  const holds = await runtime.holds();
  if (output.isJson) output.print(toJsonText({ holds }));
  else output.print(holds.length === 0 ? 'No holds.' : renderTable(holds, columns, output.page));
  return ExitCode.Ok;
}
