import type { KeyboardEvent, ReactElement } from 'react';
import { useEffect, useId, useRef, useState } from 'react';
import { Icon } from '../app/icons.tsx';
import type { Action } from '../app/use-action.ts';
import { useAction } from '../app/use-action.ts';

/** Texts that were not sent yet, by session, until the page is closed. */
const drafts = new Map<string, string>();

interface ComposerProps {
  /** Names the draft. */
  readonly draft: string;
  readonly isRunning: boolean;
  readonly send: (text: string) => Promise<void>;
  readonly stop?: () => Promise<void>;
  readonly placeholder: string;
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
export function Composer({ draft, isRunning, send, stop, placeholder }: ComposerProps): ReactElement {
  const [text, setText] = useState(() => drafts.get(draft) ?? '');
  const area = useRef<HTMLTextAreaElement>(null);
  const errorId = useId();
  const sending = useAction();
  const stopping = useAction();
  const change = (next: string): void => {
    setText(next);
    if (next === '') drafts.delete(draft);
    else drafts.set(draft, next);
  };
  useEffect(() => fit(area.current), [text]);
  const submit = async (): Promise<void> => {
    if (text.trim() === '') {
      area.current?.focus();
      return;
    }
    if (await sending.run(() => send(text.trim()))) change('');
    area.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // While a word is composed, Enter belongs to the keyboard.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  const error = sending.error || stopping.error;
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
      <div className="composer-row">
        <textarea
          ref={area}
          rows={1}
          value={text}
          placeholder={placeholder}
          aria-label="Message"
          aria-describedby={error === '' ? undefined : errorId}
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {isRunning && stop !== undefined && <StopButton action={stopping} stop={stop} />}
        <button type="submit" className="button primary" disabled={sending.isBusy}>
          <Icon name="send" />
          Send
        </button>
      </div>
    </form>
  );
}
