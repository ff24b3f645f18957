import { omitUndefined, pluralize } from '../../lib/index.ts';
import type { Message, Usage } from '../../messages/index.ts';
import { toolResultText } from '../../messages/index.ts';
import type { Mail, Session } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import type { Fact } from '../render/page.ts';
import { fitLine, renderFacts, renderText } from '../render/page.ts';
import { pad, toJsonText, toLine } from '../render/text.ts';
import { toTime } from '../render/time.ts';
import { describeRunner } from '../worker/find-workers.ts';
import { describeMail, toMailJson } from './describe-mail.ts';
import { getStatusStyle } from './sessions.ts';
import { renderWait } from './waits.ts';

export interface ShowOptions {
  /** Number of messages to show, the newest. @default 10 */
  readonly messages?: number;
}

function describeUsage({ total, input, output, unknownCalls = 0 }: Usage): string {
  const unknown = unknownCalls === 0 ? '' : `; ${pluralize(unknownCalls, 'call')} reported none`;
  return `${total} tokens (${input} in, ${output} out)${unknown}`;
}

/** Returns the facts of a session; `runner` says who runs it, if it is in progress. */
function toFacts(
  { id, agent, status, stopReason, tenant, owner, tags, createdAt, updatedAt, forkedFrom, ...session }: Session,
  runner: string | undefined,
): readonly Fact[] {
  const version = agent.version === undefined ? '' : ` ${agent.version}`;
  return [
    ['session', id, 'bold'],
    ['status', stopReason === undefined || stopReason === status ? status : `${status} (${stopReason})`, getStatusStyle(status)],
    ['run by', runner],
    ['agent', `${agent.id}${version} (fingerprint ${agent.fingerprint})`],
    ['tenant', tenant],
    ['owner', owner],
    ['tags', tags.join(', ')],
    ['created', toTime(createdAt)],
    ['updated', toTime(updatedAt)],
    ['forked from', forkedFrom && `${forkedFrom.sessionId}, execution ${forkedFrom.execution}, step ${forkedFrom.step}`],
    ['steps', `${session.stepCount} in ${pluralize(session.executions, 'execution')}`],
    ['usage', describeUsage(session.usage)],
  ];
}

/** Describes the content of a message in one line. */
function describeMessage(message: Message, { redactor }: CommandContext['output']): string {
  const calls = message.toolCalls.map(({ name, args }) => `calls ${name} ${toJsonText(redactor.value(args))}`);
  const results = message.toolResults.map(({ toolName, output }) => `${toolName}: ${toolResultText(output)}`);
  return toLine([redactor.text(message.text), ...calls, ...results.map(redactor.text)].filter((text) => text !== '').join('  '));
}

function renderMessages(session: Session, count: number, output: CommandContext['output']): string {
  const { page } = output;
  const all = [...session.state.messages];
  const shown = count === 0 ? [] : all.slice(-count);
  const lines = shown.map((message) =>
    fitLine(page, `  ${pad(toLine(message.name ?? message.role), 10)} ${describeMessage(message, output)}`.trimEnd()),
  );
  const title = shown.length === all.length ? `Messages (${all.length})` : `Messages (${shown.length} newest of ${all.length})`;
  return [page.style('dim', title), ...lines].join('\n');
}

function toJson(session: Session, mail: readonly Mail[], { messages = 10, output }: ShowOptions & Pick<CommandContext, 'output'>): object {
  const { redactor } = output;
  const shown = [...session.state.messages].slice(messages === 0 ? Infinity : -messages);
  return omitUndefined({
    ...session,
    worker: session.worker?.id,
    text: redactor.text(session.text),
    explain: undefined,
    explanation: redactor.text(session.explain()),
    waitingFor: session.waitingFor.map((wait) => ('args' in wait ? { ...wait, args: redactor.value(wait.args) } : wait)),
    messages: shown.map((message) => redactor.value(message.toJSON())),
    mailbox: mail.map((each) => toMailJson(each, redactor)),
  });
}

/** Shows a session: facts, status, waits, mailbox and its newest messages. */
export async function show(context: CommandContext, sessionId: string, { messages = 10 }: ShowOptions = {}): Promise<ExitCode> {
  const { runtime, store, output } = context;
  const session = await runtime.get(sessionId);
  const mail = await store.inbox.read({ sessionId });
  if (output.isJson) {
    output.print(toJsonText(toJson(session, mail, { messages, output })));
    return ExitCode.Ok;
  }
  const { page } = output;
  const runner = session.status === 'in_progress' ? await describeRunner(store, session) : undefined;
  output.print(
    [
      renderFacts(page, toFacts(session, runner)),
      renderText(page, output.redactor.text(session.explain({ brief: true }))),
      ...session.waitingFor.map((wait) => renderWait(session, wait, context)),
      ...(mail.length === 0
        ? []
        : [
            [page.style('dim', `Mailbox (${mail.length})`), ...mail.map((each) => `  ${toLine(describeMail(each, output.redactor))}`)].join(
              '\n',
            ),
          ]),
      renderMessages(session, messages, output),
    ].join('\n\n'),
  );
  return ExitCode.Ok;
}
