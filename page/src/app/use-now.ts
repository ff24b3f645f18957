import { useEffect, useState } from 'react';

/** Returns the time, again at each interval while it is needed. */
export function useNow(intervalMs: number, isNeeded = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isNeeded) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs, isNeeded]);
  return now;
}
