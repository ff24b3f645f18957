import { SteplineError } from '../../lib/index.ts';
import type { StoreHolder } from '../store/session-store.ts';

function describeHolder({ name, host, pid, id }: StoreHolder): string {
  const place = host === undefined ? '' : ` on ${host}`;
  const known = pid === undefined ? `process ${id}` : `process ${pid}`;
  return name === undefined ? `${known}${place}` : `"${name}" (${known}${place})`;
}

/** A live process holds the store. */
export class StoreInUseError extends SteplineError {
  override readonly name = 'StoreInUseError';
  readonly code = 'store-in-use';
  readonly holder: StoreHolder;

  constructor(holder: StoreHolder) {
    super(
      `The session store is in use by ${describeHolder(holder)} since ${new Date(holder.claimedAt).toISOString()}. Reading works; actions do not. Stop that process, or pass standby: true to wait for the store, or takeOver: true to take it.`,
    );
    this.holder = holder;
  }
}
