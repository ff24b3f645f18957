import type { KeyboardEvent, ReactElement } from 'react';
import { Icon } from '../app/icons.tsx';
import type { Tour } from './use-tour.ts';

/** The guide: what to look at in this act. */
export function TourCard({ tour }: { readonly tour: Tour }): ReactElement | null {
  const { acts, place, action, next, retry, end } = tour;
  if (place < 0) return null;
  const act = acts[place];
  const isLast = place >= acts.length - 1;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') end();
  };
  return (
    <section className="tour" aria-label="Tour" onKeyDown={onKeyDown}>
      <p className="tour-place">
        <Icon name="flag" />
        {act === undefined ? 'Tour' : `Tour ${place + 1} of ${acts.length}`}
      </p>
      <h2>{act?.title ?? 'The tour'}</h2>
      <div aria-live="polite">
        <p className="plain">{act?.text}</p>
        {action.isBusy && <p className="note">Starting…</p>}
      </div>
      {action.error !== '' && (
        <p className="form-error" role="alert">
          {action.error}
        </p>
      )}
      <div className="buttons">
        {action.error !== '' && (
          <button type="button" className="button primary" onClick={retry}>
            Try again
          </button>
        )}
        {!isLast && action.error === '' && (
          <button type="button" className="button primary" disabled={action.isBusy} onClick={next}>
            Next
          </button>
        )}
        <button type="button" className={isLast && action.error === '' ? 'button primary' : 'button'} onClick={end}>
          End tour
        </button>
      </div>
    </section>
  );
}
