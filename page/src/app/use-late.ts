import { useEffect, useState } from 'react';

/** Returns true once a time has passed since the component was first drawn. */
export function useLate(afterMs: number): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), afterMs);
    return () => clearTimeout(timer);
  }, [afterMs]);
  return isLate;
}
