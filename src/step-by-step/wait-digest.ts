import type { Json } from '../lib/index.ts';
import { sha256, stableStringify } from '../lib/index.ts';
import type { RunState } from './run-state.ts';
import type { Wait } from './waiting.ts';

/** A call as it is shown to the person who has to approve it. */
export interface AskedCall {
  /** Execution and step of the call: the same call in another step is another call. */
  readonly execution: number;
  readonly step: number;
  readonly id: string;
  readonly toolName?: string | null;
  readonly args?: Json;
  /** Reason that the tool's rule gave for asking. Not part of what is answered. */
  readonly reason?: string;
}

/** Returns a wait as it is shown in this state. */
export const toAskedCall = ({ execution }: RunState, wait: Wait): AskedCall => ({
  ...wait,
  execution: execution.number,
  step: execution.pendingStep?.number ?? 0,
});

/** The value whose digest binds an answer to what was shown: the session, the call, and its arguments as they are. */
export const toBoundValue = (sessionId: string, { execution, step, id, toolName = null, args = null }: AskedCall): Json => ({
  sessionId,
  execution,
  step,
  id,
  toolName,
  args,
});

/** The digest of an open wait. The id of a session's state is the session's id. */
export const getWaitDigest = (state: RunState, wait: Wait): string =>
  sha256(stableStringify(toBoundValue(state.id, toAskedCall(state, wait))));
