import type { KeyboardEvent, ReactElement, ReactNode } from 'react';
import { use, useEffect, useLayoutEffect, useRef } from 'react';
import type { ViewWait } from 'stepline/ui';
import { Icon } from '../app/icons.tsx';
import { ShowTop } from '../conversation/show-top.ts';

interface WaitCardProps {
  /** Accessible name. */
  readonly name: string;
  readonly title: string;
  readonly notes?: readonly string[];
  readonly wait: ViewWait;
  /** False while a part of it is still to come. */
  readonly isWhole?: boolean;
  readonly error: string;
  readonly onEscape?: () => void;
  readonly children: ReactNode;
}

/** True if the person is in the middle of something that focus must not leave. */
function isTyping(): boolean {
  const active = document.activeElement;
  const isField = active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement;
  return (isField && active.value !== '') || active?.closest('.wait-card, [role="dialog"]') !== null;
}

/** A question to the person in front of the page. A new one takes the focus, unless something is being typed. */
export function WaitCard({ name, title, notes = [], wait, isWhole = true, error, onEscape, children }: WaitCardProps): ReactElement {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (document.activeElement !== null && isTyping()) return;
    card.current?.focus({ preventScroll: true });
  }, [wait.wait_id]);
  const showTop = use(ShowTop);
  useLayoutEffect(() => {
    if (isWhole && card.current !== null) showTop(card.current);
  }, [isWhole, showTop]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && onEscape !== undefined) {
      event.stopPropagation();
      onEscape();
      card.current?.focus({ preventScroll: true });
    }
  };
  return (
    <div ref={card} className="wait-card" role="group" aria-label={name} tabIndex={-1} onKeyDown={onKeyDown}>
      <h2>
        <Icon name="pause" />
        {title}
      </h2>
      {notes.length > 0 && <p className="note">{notes.join(' · ')}</p>}
      {wait.reason !== undefined && <p className="plain">{wait.reason}</p>}
      {wait.problem !== undefined && <p className="form-error">{wait.problem}</p>}
      {children}
      {error !== '' && (
        <p className="form-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
