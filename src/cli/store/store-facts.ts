/** Findings about a path or address given as a store. */
export type StoreFacts =
  | { readonly type: 'store'; readonly schema: number; readonly bytes: number }
  /** Nothing is there. */
  | { readonly type: 'missing'; readonly problem: string }
  /** Something else is there, or it cannot be read. */
  | { readonly type: 'foreign'; readonly problem: string };
