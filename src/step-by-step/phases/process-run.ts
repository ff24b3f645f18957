import type { ActiveRun } from '../active-run.ts';
import type { RunState } from '../run-state.ts';
import type { StepProcess } from '../step-process.ts';

/** A process and its run. */
export interface ProcessRun<State extends RunState, Context> {
  readonly process: StepProcess<State, Context>;
  readonly run: ActiveRun<State, Context>;
}
