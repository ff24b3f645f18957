import type { ReactElement } from 'react';
import type { ToolViewMessage, ViewApproval } from 'stepline/ui';
import { Icon } from '../app/icons.tsx';
import { formatDuration, formatTime } from '../format/format.ts';
import { describeCall } from '../format/status.ts';
import { ArgsView } from '../waits/args-view.tsx';
import { parseJson } from '../waits/parse-json.ts';
import { nameAuthor } from './author.ts';

const decisions: Readonly<Record<string, string>> = {
  open: 'Waiting for approval',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Not approved in time',
  superseded: 'Given up for a new message',
  cancelled: 'Cancelled',
};

const endSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Says what became of an approval, and who decided. */
export function describeApproval({ status, by, at, reason, edited }: ViewApproval, now: number): string {
  const words = [decisions[status] ?? status];
  if (edited === true) words.push('with changes');
  if (by !== undefined && by.id !== '') words.push(`by ${nameAuthor(by)}`);
  if (at !== undefined) words.push(`at ${formatTime(at, now)}`);
  return endSentence(`${words.join(' ')}${reason === undefined || status === 'superseded' ? '' : `: ${reason}`}`);
}

function Part({ name, text, tone = '' }: { readonly name: string; readonly text: string; readonly tone?: string }): ReactElement {
  return (
    <div className={`part ${tone}`}>
      <p className="part-name">{name}</p>
      <p className="plain mono">{text}</p>
    </div>
  );
}

/** The result of a call: name by name if it is JSON that is whole, else its summary. */
function ResultPart({ result }: { readonly result: string }): ReactElement {
  const parsed = /^[{[]/.test(result) ? parseJson(result) : undefined;
  if (parsed === undefined || !('value' in parsed)) return <Part name="Result" text={result} />;
  return (
    <div className="part">
      <p className="part-name">Result</p>
      <ArgsView args={parsed.value} />
    </div>
  );
}

const toProgress = (progress: unknown): string => (typeof progress === 'string' ? progress : JSON.stringify(progress));

/** A call of a tool: its status in words, and behind a click its arguments and its result. */
export function ToolBlock({ message }: { readonly message: ToolViewMessage }): ReactElement {
  const { tool_name, tool_status, tool_args_summary, tool_args, tool_result, tool_error, tool_duration_ms, tool_progress } = message;
  const { text, tone, icon } = describeCall(tool_status);
  const { approval } = message;
  // The words below it say who declined a call, and why: it has no error of its own.
  const isDeclined = approval !== undefined && approval.status !== 'open' && approval.status !== 'approved';
  return (
    <div role="group" aria-label={`Tool ${tool_name}`} className={`tool-block ${tone}`}>
      <details>
        <summary>
          <Icon name="chevron" />
          <span className="tool-name">{tool_name}</span>
          <span className="tool-summary">{tool_args_summary}</span>
          <span className={`tool-status ${tone}`}>
            <Icon name={icon} />
            {text}
          </span>
          {tool_duration_ms !== undefined && <span className="tool-time">{formatDuration(tool_duration_ms)}</span>}
        </summary>
        <div className="tool-parts">
          {tool_args !== undefined ? (
            <ArgsView args={tool_args} />
          ) : (
            tool_args_summary !== '' && <Part name="Arguments" text={tool_args_summary} />
          )}
          {tool_result !== undefined && <ResultPart result={tool_result} />}
        </div>
      </details>
      {tool_error !== undefined && !isDeclined && <p className="tool-error">{tool_error}</p>}
      {tool_progress !== undefined && tool_status === 'running' && <p className="note">{toProgress(tool_progress)}</p>}
      {approval !== undefined && approval.status !== 'open' && <p className="note">{describeApproval(approval, Date.now())}</p>}
    </div>
  );
}
