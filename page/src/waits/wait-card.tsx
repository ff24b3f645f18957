import type { KeyboardEvent, ReactElement, ReactNode, RefObject } from 'react';
import { use, useEffect, useLayoutEffect, useRef } from 'react';
import type { ViewWait } from 'stepline/ui';
import { Icon } from '../app/icons.tsx';
import type { Action } from '../app/use-action.ts';
import { ShowTop } from '../conversation/show-top.ts';
import { SentNote } from './sent-note.tsx';

interface WaitCardProps {
  /** Accessible name. */
  readonly name: string;
  readonly title: string;
  readonly notes?: readonly string[];
  readonly wait: ViewWait;
  /** False while a part of it is still to come. */
  readonly isWhole?: boolean;
  /** Decision of the person about it. */
  readonly action: Action;
  readonly onEscape?: () => void;
  readonly children: ReactNode;
}

/** True if the person is in the middle of something that focus must not leave. */
function isTyping(): boolean {
  const active = document.activeElement;
  const isField = active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement;
  return (isField && active.value !== '') || active?.closest('.wait-card, [role="dialog"]') !== null;
}

/** Keeps the focus near a card whose button was pressed: a button that is disabled or gone would lose it. */
function useKeptFocus(card: RefObject<HTMLElement | null>, isBusy: boolean): void {
  useLayoutEffect(() => {
    if (isBusy && card.current?.contains(document.activeElement) === true) card.current.focus({ preventScroll: true });
  }, [card, isBusy]);
  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      if (element?.contains(document.activeElement) === true) element.closest<HTMLElement>('[role="log"]')?.focus({ preventScroll: true });
    };
  }, [card]);
}

/** A question to the person in front of the page. A new one takes the focus, unless something is being typed. */
export function WaitCard({ name, title, notes = [], wait, isWhole = true, action, onEscape, children }: WaitCardProps): ReactElement {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (document.activeElement !== null && isTyping()) return;
    card.current?.focus({ preventScroll: true });
  }, [wait.wait_id]);
  const { isBusy, isDone, error } = action;
  useKeptFocus(card, isBusy);
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
      {isDone && <SentNote />}
      {error !== '' && (
        <p className="form-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
