const minuteMs = 60_000;

/** Usage within the last minute, against a limit. */
export interface SlidingSum {
  add(at: number, amount: number): void;
  /** Returns the time at which there is room for more: now, or when enough of the usage is a minute old. `sharedBy` divides the limit. */
  freeAt(now: number, sharedBy?: number): number;
}

interface Use {
  readonly at: number;
  readonly amount: number;
}

/** Counts over the last minute. Without a limit there is always room, and nothing is kept. */
export function createSlidingSum(limit: number | undefined): SlidingSum {
  let uses: Use[] = [];
  let first = 0;
  let sum = 0;
  let lastAt = -Infinity;

  const forget = (now: number): void => {
    for (let use = uses[first]; use !== undefined && use.at + minuteMs <= now; use = uses[first]) {
      sum -= use.amount;
      first += 1;
    }
    if (first * 2 > uses.length) {
      uses = uses.slice(first);
      first = 0;
    }
  };
  return {
    add: (at, amount) => {
      if (limit === undefined || amount === 0) return;
      uses.push({ at, amount });
      sum += amount;
      lastAt = at;
    },
    freeAt: (now, sharedBy = 1) => {
      if (limit === undefined) return now;
      forget(now);
      const most = limit / sharedBy;
      // Fewer than one a minute.
      if (most < 1) return Math.max(now, lastAt + minuteMs / most);
      let left = sum;
      let freeAt = now;
      for (const use of uses.slice(first)) {
        if (left < Math.floor(most)) break;
        left -= use.amount;
        freeAt = use.at + minuteMs;
      }
      return freeAt;
    },
  };
}
