import { omitUndefined } from '../../lib/index.ts';
import type { Session, SessionQuery, SessionWait } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import type { Fact } from '../render/page.ts';
import { renderFacts } from '../render/page.ts';
import { cut, toJsonText, toLine } from '../render/text.ts';
import { toSpan, toTime } from '../render/time.ts';
import { describeWait, getAsked, getWaitStart, toAnswerCommand } from './describe-wait.ts';

/** Length of arguments in a list; `approve` shows them in full. */
const shortArgs = 200;

/** Lists the facts of a wait. */
function toWaitFacts(session: Session, wait: SessionWait, { output, clock }: CommandContext): readonly Fact[] {
  const { args, prompt } = getAsked(wait, output.redactor);
  const since = getWaitStart(session, wait);
  return [
    ['wait', wait.id],
    ['since', `${toTime(since)} (${toSpan(clock.now() - since)})`],
    ['expires', wait.expiresAt === undefined ? undefined : toTime(wait.expiresAt)],
    ['arguments', args === undefined ? undefined : cut(toJsonText(args), shortArgs)],
    ['question', prompt === undefined ? undefined : cut(toLine(prompt), shortArgs)],
    ['problem', wait.problem === undefined ? undefined : output.redactor.text(wait.problem), 'yellow'],
    ['digest', wait.digest],
  ];
}

/** Renders a wait with the command that answers it. */
export function renderWait(session: Session, wait: SessionWait, context: CommandContext): string {
  const { style } = context.output.page;
  // The command is not broken into lines: it is there to be copied.
  return [
    `${style('yellow', toLine(describeWait(wait)))} in session ${toLine(wait.sessionId)}`,
    renderFacts(context.output.page, toWaitFacts(session, wait, context), '  '),
    `  ${style('cyan', toLine(toAnswerCommand(wait)))}`,
  ].join('\n');
}

function toJson(session: Session, wait: SessionWait, { output }: CommandContext): object {
  const { sessionId, id, type, digest, expiresAt, problem, agent } = wait;
  const { tenant, owner } = session;
  return omitUndefined({
    sessionId,
    id,
    type,
    toolName: 'toolName' in wait ? wait.toolName : undefined,
    ...getAsked(wait, output.redactor),
    since: getWaitStart(session, wait),
    expiresAt,
    problem: problem === undefined ? undefined : output.redactor.text(problem),
    agent,
    tenant,
    owner,
    digest,
  });
}

/** Lists everything that waits for somebody. */
export async function listWaits(context: CommandContext, query: SessionQuery): Promise<ExitCode> {
  const { runtime, output } = context;
  const { sessions, cursor } = await runtime.list({ ...query, status: 'waiting' });
  const found: { readonly session: Session; readonly wait: SessionWait }[] = [];
  for (const { id, ...rest } of sessions) {
    if ('damage' in rest) continue;
    const session = await runtime.get(id);
    found.push(...session.waitingFor.map((wait) => ({ session, wait })));
  }
  if (output.isJson) {
    const waits = found.map(({ session, wait }) => toJson(session, wait, context));
    output.print(toJsonText({ waits, ...(cursor !== undefined && { cursor }) }));
    return ExitCode.Ok;
  }
  output.print(
    found.length === 0 ? 'Nothing waits for anybody.' : found.map(({ session, wait }) => renderWait(session, wait, context)).join('\n\n'),
  );
  if (cursor !== undefined) output.note(`There are more. Continue with --cursor ${cursor}, or raise --limit.`);
  return ExitCode.Ok;
}
