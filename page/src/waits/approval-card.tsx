// A call that waits for somebody's approval.
import type { MouseEvent, ReactElement } from 'react';
import { useId, useState } from 'react';
import type { ActionReceipt, AgentActions, ViewWait } from 'stepline/ui';
import { Icon } from '../app/icons.tsx';
import { formatTime } from '../format/format.ts';
import { ArgsView } from './args-view.tsx';
import { parseJson } from './parse-json.ts';
import type { Decision } from './use-decision.ts';
import { useDecision } from './use-decision.ts';
import type { WholeWait } from './use-whole-wait.ts';
import { useWholeWait } from './use-whole-wait.ts';
import { WaitCard } from './wait-card.tsx';

interface FormProps {
  readonly action: Decision;
  readonly onClose: () => void;
}

/** Closes a form. The focus stays in its card. */
function CancelButton({ onClose }: Pick<FormProps, 'onClose'>): ReactElement {
  const onClick = ({ currentTarget }: MouseEvent<HTMLButtonElement>): void => {
    currentTarget.closest<HTMLElement>('.wait-card')?.focus({ preventScroll: true });
    onClose();
  };
  return (
    <button type="button" className="button" onClick={onClick}>
      Cancel
    </button>
  );
}

/** Arguments that a person changes before they approve. */
function EditForm({
  args,
  approve,
  action,
  onClose,
}: FormProps & { readonly args: unknown; readonly approve: (args: unknown) => Promise<ActionReceipt> }): ReactElement {
  const [text, setText] = useState(() => JSON.stringify(args ?? {}, null, 2));
  const problemId = useId();
  const parsed = parseJson(text);
  const problem = 'problem' in parsed ? parsed.problem : '';
  const submit = (): void => {
    if ('value' in parsed) void action.run(() => approve(parsed.value));
    else action.setError(parsed.problem);
  };
  return (
    <div className="wait-form">
      <label>
        <span>Arguments</span>
        <textarea
          className="mono"
          rows={Math.min(18, text.split('\n').length + 1)}
          spellCheck={false}
          value={text}
          aria-invalid={problem !== ''}
          aria-describedby={problemId}
          onChange={(event) => {
            setText(event.target.value);
            action.setError('');
          }}
          autoFocus
        />
      </label>
      <p className={problem === '' ? 'note' : 'form-error'} id={problemId}>
        {problem === '' ? 'Valid JSON. The tool checks the fields before it runs.' : problem}
      </p>
      <div className="buttons">
        <button type="button" className="button primary" disabled={action.isLocked} onClick={submit}>
          Approve with changes
        </button>
        <CancelButton onClose={onClose} />
      </div>
    </div>
  );
}

/** The reason for a rejection, which the model reads. */
function RejectForm({
  reject,
  action,
  onClose,
}: FormProps & { readonly reject: (reason: string) => Promise<ActionReceipt> }): ReactElement {
  const [reason, setReason] = useState('');
  return (
    <div className="wait-form">
      <label>
        <span>Reason</span>
        <textarea
          rows={2}
          value={reason}
          placeholder="The agent reads it. You may leave it empty."
          onChange={(event) => setReason(event.target.value)}
          autoFocus
        />
      </label>
      <div className="buttons">
        <button
          type="button"
          className="button danger"
          disabled={action.isLocked}
          onClick={() => void action.run(() => reject(reason.trim()))}
        >
          Reject call
        </button>
        <CancelButton onClose={onClose} />
      </div>
    </div>
  );
}

function Arguments({ args, summary, isLoading, error }: WholeWait): ReactElement {
  if (args !== undefined) return <ArgsView args={args} />;
  return (
    <>
      {summary !== undefined && summary !== '' && <p className="plain mono">{summary}</p>}
      {isLoading && <p className="note">Loading all arguments…</p>}
      {error !== '' && (
        <p className="form-error" role="alert">
          The arguments cannot be shown in full yet, so the call cannot be approved: {error} Trying again…
        </p>
      )}
    </>
  );
}

interface ApprovalCardProps {
  readonly wait: ViewWait;
  readonly actions: Pick<AgentActions, 'readWait' | 'approve' | 'reject'>;
}

/** Shows a call in full, and lets a person approve, change or reject it. */
export function ApprovalCard({ wait, actions }: ApprovalCardProps): ReactElement {
  const [form, setForm] = useState<'edit' | 'reject'>();
  const action = useDecision(wait);
  const whole = useWholeWait(wait, actions.readWait);
  const { seen, requestedBy, shown } = whole;
  const close = (): void => setForm(undefined);
  const toOptions = (args?: unknown): Parameters<AgentActions['approve']>[1] => ({
    ...(seen !== undefined && { seen }),
    // Holds: it was parsed from JSON.
    ...(args !== undefined && { args: args as never }),
  });
  const notes = [
    ...(wait.agent === undefined ? [] : [`Asked by the agent ${wait.agent}`]),
    ...(requestedBy === undefined ? [] : [`Requested by ${requestedBy}`]),
    ...(wait.expires_at === undefined ? [] : [`Expires ${formatTime(wait.expires_at, Date.now())}`]),
  ];
  return (
    <WaitCard
      name={`Approval: ${wait.tool ?? ''}`}
      title={`Approve ${wait.tool ?? 'this call'}?`}
      notes={notes}
      wait={wait}
      isWhole={!whole.isLoading}
      onEscape={close}
      action={action}
    >
      {form !== 'edit' && <Arguments {...whole} />}
      {form === 'edit' && (
        <EditForm args={whole.args} approve={(args) => actions.approve(shown, toOptions(args))} action={action} onClose={close} />
      )}
      {form === 'reject' && (
        <RejectForm reject={(reason) => actions.reject(shown, reason === '' ? undefined : reason)} action={action} onClose={close} />
      )}
      {form === undefined && (
        <div className="buttons">
          <button
            type="button"
            className="button primary"
            disabled={action.isLocked || !whole.isWhole}
            onClick={() => void action.run(() => actions.approve(shown, toOptions()))}
          >
            <Icon name="check" />
            Approve
          </button>
          <button type="button" className="button" disabled={action.isLocked || !whole.isWhole} onClick={() => setForm('edit')}>
            Edit
          </button>
          <button type="button" className="button" disabled={action.isLocked} onClick={() => setForm('reject')}>
            Reject
          </button>
        </div>
      )}
    </WaitCard>
  );
}
