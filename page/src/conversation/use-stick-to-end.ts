// Keeps a list at its end while the reader is there.
// T1. Whoever reads further up is never moved.
import type { RefObject } from 'react';
import { useCallback, useEffect, useRef, useState } from 'react';

/** Distance from the end that counts as being there. */
const nearPx = 60;

/** Events by which a reader scrolls. */
const inputs = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

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
  /** True while an element is shown from its top: only the reader ends that. */
  const isHeld = useRef(false);
  const [isAtEnd, setAtEnd] = useState(true);
  const goToEnd = useCallback(() => {
    isStuck.current = true;
    isHeld.current = false;
    setAtEnd(true);
    const list = scroller.current;
    if (list !== null) list.scrollTop = list.scrollHeight;
  }, []);
  const showTop = useCallback((element: HTMLElement) => {
    const list = scroller.current;
    if (list === null || !isStuck.current || element.offsetHeight + nearPx < list.clientHeight) return;
    isStuck.current = false;
    isHeld.current = true;
    setAtEnd(true);
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
      if (isHeld.current) return;
      const isNear = getDistance(list) < nearPx;
      // Growth moves the end away, but only a reader moves the list up.
      if (isNear) note(true);
      else if (list.scrollTop < top - 1) note(false);
      top = list.scrollTop;
    };
    const follow = (): void => {
      if (isStuck.current && getDistance(list) > 0) list.scrollTop = list.scrollHeight;
    };
    const release = (): void => {
      isHeld.current = false;
    };
    const observer = new ResizeObserver(follow);
    observer.observe(inner);
    observer.observe(list);
    list.addEventListener('scroll', onScroll, { passive: true });
    for (const type of inputs) list.addEventListener(type, release, { passive: true });
    follow();
    return () => {
      observer.disconnect();
      list.removeEventListener('scroll', onScroll);
      for (const type of inputs) list.removeEventListener(type, release);
    };
  }, []);
  return { scroller, content, isAtEnd, goToEnd, showTop };
}
