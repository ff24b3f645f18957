/** Facts about a session that say who runs it. */
export interface RunFacts {
  readonly worker?: { readonly name: string; readonly silent_ms?: number };
}

/** A worker gives a sign of life twice a second. */
const silentMs = 5_000;
/** Says which worker runs a session; undefined if that is not known yet. */
export function describeWorker({ worker }: RunFacts, isLate: boolean): string | undefined {
  if (worker === undefined) return isLate ? 'no worker runs it' : undefined;
  return (worker.silent_ms ?? 0) < silentMs ? `run by ${worker.name}` : `${worker.name} gives no sign of life`;
}
