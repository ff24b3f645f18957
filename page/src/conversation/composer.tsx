import type { KeyboardEvent, ReactElement } from 'react';
import { useEffect, useId, useRef, useState } from 'react';
import { Icon } from '../app/icons.tsx';
import type { Action } from '../app/use-action.ts';
import { useAction } from '../app/use-action.ts';
import { keepDraft, readDraft } from './drafts.ts';
import { putBack, removeSent } from './remove-sent.ts';
import type { ReturnedMessage } from './use-sent-messages.ts';

interface ComposerProps {
  /** Names the draft. */
  readonly draft: string;
  readonly isRunning: boolean;
  readonly send: (text: string) => Promise<void>;
  readonly stop?: () => Promise<void>;
  readonly placeholder: string;
  /** Effect of a message now, if it may surprise. */
  readonly hint?: string | undefined;
  /** True if the session takes no message now; the hint says why. What is typed is kept. */
  readonly isRefused?: boolean;
  /** Messages that were refused after they had been sent: each goes back to the field, once. */
  readonly returned?: readonly ReturnedMessage[];
  /** Takes the focus when it appears. */
  readonly takesFocus?: boolean;
}

/** Grows with its text, up to what the style allows. */
function fit(area: HTMLTextAreaElement | null): void {
  if (area === null) return;
  area.style.height = 'auto';
  area.style.height = `${area.scrollHeight}px`;
}

function StopButton({ action, stop }: { readonly action: Action; readonly stop: () => Promise<void> }): ReactElement {
  return (
    <button type="button" className="button stop" disabled={action.isBusy} onClick={() => void action.run(stop)}>
      <Icon name="stop" />
      Stop
    </button>
  );
}

/** The field for a message. What was typed stays if it cannot be sent. */
export function Composer(props: ComposerProps): ReactElement {
  const { draft, isRunning, send, stop, placeholder, hint, isRefused = false, returned, takesFocus = false } = props;
  const [text, setText] = useState(() => readDraft(draft));
  const area = useRef<HTMLTextAreaElement>(null);
  const [errorId, hintId] = [useId(), useId()];
  const sending = useAction();
  const stopping = useAction();
  const change = (next: string): void => {
    setText(next);
    keepDraft(draft, next);
  };
  useEffect(() => fit(area.current), [text]);
  useEffect(() => {
    if (takesFocus) area.current?.focus();
  }, [takesFocus]);
  const { setError } = sending;
  const taken = useRef(new WeakSet<ReturnedMessage>());
  useEffect(() => {
    for (const message of returned ?? []) {
      if (taken.current.has(message)) continue;
      taken.current.add(message);
      setText((now) => putBack(message.text, now));
      keepDraft(draft, putBack(message.text, readDraft(draft)));
      setError(message.reason);
    }
  }, [returned, draft, setError]);
  const submit = async (): Promise<void> => {
    if (isRefused) return;
    if (text.trim() === '') {
      area.current?.focus();
      return;
    }
    // Somebody may type on while a slow server answers.
    if (await sending.run(() => send(text.trim()))) change(removeSent(area.current?.value ?? '', text));
    area.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // While a word is composed, Enter belongs to the keyboard.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  const error = sending.error || stopping.error;
  const describedBy = [...(error === '' ? [] : [errorId]), ...(hint === undefined ? [] : [hintId])].join(' ');
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {error !== '' && (
        <p className="form-error" id={errorId} role="alert">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p className="note composer-hint" id={hintId}>
          {hint}
        </p>
      )}
      <div className="composer-row">
        <textarea
          ref={area}
          rows={1}
          value={text}
          placeholder={placeholder}
          aria-label="Message"
          aria-describedby={describedBy === '' ? undefined : describedBy}
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {isRunning && stop !== undefined && <StopButton action={stopping} stop={stop} />}
        <button type="submit" className="button primary" disabled={sending.isBusy || isRefused}>
          <Icon name="send" />
          Send
        </button>
      </div>
    </form>
  );
}
