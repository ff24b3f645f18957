import type { ReactElement } from 'react';
import { config } from '../config.ts';
import { useAction } from './use-action.ts';

/** Messages to begin with: a click sends one. */
export function Suggestions({ send }: { readonly send: (text: string) => Promise<void> }): ReactElement | null {
  const action = useAction();
  const { suggestions = [] } = config;
  if (suggestions.length === 0) return null;
  return (
    <div className="suggestions" role="group" aria-label="Suggestions">
      {suggestions.map((text) => (
        <button
          key={text}
          type="button"
          className="button suggestion"
          disabled={action.isBusy || action.isDone}
          onClick={() => void action.run(() => send(text))}
        >
          {text}
        </button>
      ))}
      {action.error !== '' && (
        <p className="form-error" role="alert">
          {action.error}
        </p>
      )}
    </div>
  );
}
