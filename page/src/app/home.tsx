import type { ReactElement } from 'react';
import { Composer } from '../conversation/composer.tsx';
import { Suggestions } from './suggestions.tsx';

/** Name of the draft of a session's first message. */
export const homeDraft = 'home';

interface HomeProps {
  /** True if somebody asked for a new session: the field takes the focus. */
  readonly takesFocus: boolean;
  readonly hasSessions: boolean;
  readonly send: (text: string) => Promise<void>;
  readonly onTour: (() => void) | undefined;
}

/** The page before a session is chosen: a message starts one. */
export function Home({ takesFocus, hasSessions, send, onTour }: HomeProps): ReactElement {
  return (
    <main className={hasSessions ? 'home has-sessions' : 'home'} id="main" tabIndex={-1}>
      <div className="home-middle">
        <h1>What should the agent do?</h1>
        <p className="lead">
          Every answer comes with its reasons: which limits were near, who decided, and what to do next.
          {hasSessions ? ' Choose a session on the left to continue it, or start another one here.' : ''}
        </p>
        <Composer draft={homeDraft} isRunning={false} send={send} placeholder="Start with a message…" takesFocus={takesFocus} />
        <Suggestions send={send} />
        {onTour !== undefined && (
          <p className="home-tour">
            New here?{' '}
            <button type="button" className="link-button" onClick={onTour}>
              See it at work in a short tour
            </button>
          </p>
        )}
      </div>
    </main>
  );
}
