import { isDetailEvent } from '../../events/index.ts';
import type { StoredEvent } from '../../sessions/index.ts';
import { formatStoredEvent } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import { fitLine } from '../render/page.ts';
import type { StyleName } from '../render/style.ts';
import { pad, toJsonText } from '../render/text.ts';
import { toExactTime } from '../render/time.ts';

export interface EventsOptions {
  /** Continues with events that are stored later. */
  readonly follow?: boolean;
  /** Prints also the events that repeat what others say. @default false */
  readonly all?: boolean;
  /** Number of the first event to show. @default 1 */
  readonly from?: number;
}

const colours: Readonly<Record<string, StyleName>> = { AgentFailed: 'red', ToolApprovalRequested: 'yellow', AgentFinished: 'bold' };

/** Width from which lines have room for the date. */
const wideLine = 110;

function renderEvent(event: StoredEvent, { redactor, page }: CommandContext['output']): string {
  const { at, seq, type } = event;
  const time = toExactTime(at);
  const line = [
    page.width === undefined || page.width >= wideLine ? time : time.slice(11, -1),
    pad(String(seq), 4, 'right'),
    formatStoredEvent(event, { redactor }),
  ].join(' ');
  return page.style(colours[type], fitLine(page, line.trimEnd()));
}

/** Prints the stored events of a session, a line each. */
export async function printEvents(
  context: CommandContext,
  sessionId: string,
  { follow = false, from = 1, all = false }: EventsOptions = {},
): Promise<ExitCode> {
  const { runtime, output, signal } = context;
  const events = runtime.events(sessionId, { fromSeq: Math.max(0, from - 1), follow, signal });
  for await (const event of events) {
    if (output.isJson) output.print(toJsonText(output.redactor.value(event)));
    else if (all || !isDetailEvent(event)) output.print(renderEvent(event, output));
  }
  return ExitCode.Ok;
}
