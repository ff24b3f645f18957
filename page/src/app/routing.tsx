// Moving between the addresses of the page without loading it again.
import type { MouseEvent, ReactElement, ReactNode } from 'react';
import { useMemo, useSyncExternalStore } from 'react';
import { config } from '../config.ts';
import type { Route } from './route.ts';
import { parseRoute, toPath } from './route.ts';

const changed = 'stepline-navigated';

/** Opens another part of the page. */
export function navigate(route: Route): void {
  const path = toPath(route, config.basePath);
  if (path === location.pathname) return;
  history.pushState(null, '', path);
  dispatchEvent(new Event(changed));
}

function subscribe(listener: () => void): () => void {
  addEventListener('popstate', listener);
  addEventListener(changed, listener);
  return () => {
    removeEventListener('popstate', listener);
    removeEventListener(changed, listener);
  };
}

/** Follows the address of the page. */
export function useRoute(): Route {
  const path = useSyncExternalStore(subscribe, () => location.pathname);
  return useMemo(() => parseRoute(path, config.basePath), [path]);
}

const isPlainClick = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

interface LinkProps {
  readonly to: Route;
  readonly className?: string;
  readonly isCurrent?: boolean;
  readonly children: ReactNode;
  readonly label?: string;
}

/** A link inside the page. */
export function Link({ to, className, isCurrent = false, children, label }: LinkProps): ReactElement {
  const onClick = (event: MouseEvent): void => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a
      href={toPath(to, config.basePath)}
      className={className}
      aria-current={isCurrent ? 'page' : undefined}
      aria-label={label}
      onClick={onClick}
    >
      {children}
    </a>
  );
}
