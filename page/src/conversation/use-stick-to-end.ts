// Keeps a list at its end while the reader is there.
// T1. Whoever reads further up is never moved.
import type { RefObject } from 'react';
import { useCallback, useEffect, useRef, useState } from 'react';

/** Distance from the end that counts as being there. */
const nearPx = 60;

export interface StickToEnd {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  readonly isAtEnd: boolean;
  readonly goToEnd: () => void;
  /** Shows an element from its top if it is taller than the list: people read it from there. */
  readonly showTop: (element: HTMLElement) => void;
}

const getDistance = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number => scrollHeight - scrollTop - clientHeight;

/** Follows the end of a list as it grows, until the reader scrolls up. */
export function useStickToEnd(): StickToEnd {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isStuck = useRef(true);
  const [isAtEnd, setAtEnd] = useState(true);
  const goToEnd = useCallback(() => {
    isStuck.current = true;
    setAtEnd(true);
    const list = scroller.current;
    if (list !== null) list.scrollTop = list.scrollHeight;
  }, []);
  const showTop = useCallback((element: HTMLElement) => {
    const list = scroller.current;
    if (list === null || !isStuck.current || element.offsetHeight < list.clientHeight) return;
    isStuck.current = false;
    setAtEnd(false);
    list.scrollTop += element.getBoundingClientRect().top - list.getBoundingClientRect().top - 12;
  }, []);
  useEffect(() => {
    const [list, inner] = [scroller.current, content.current];
    if (list === null || inner === null) return;
    let top = list.scrollTop;
    const note = (isThere: boolean): void => {
      isStuck.current = isThere;
      setAtEnd(isThere);
    };
    const onScroll = (): void => {
      const isNear = getDistance(list) < nearPx;
      // Growth moves the end away, but only a reader moves the list up.
      if (isNear) note(true);
      else if (list.scrollTop < top - 1) note(false);
      top = list.scrollTop;
    };
    const follow = (): void => {
      if (isStuck.current && getDistance(list) > 0) list.scrollTop = list.scrollHeight;
    };
    const observer = new ResizeObserver(follow);
    observer.observe(inner);
    observer.observe(list);
    list.addEventListener('scroll', onScroll, { passive: true });
    follow();
    return () => {
      observer.disconnect();
      list.removeEventListener('scroll', onScroll);
    };
  }, []);
  return { scroller, content, isAtEnd, goToEnd, showTop };
}
