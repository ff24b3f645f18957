import type { Clock, IdSource } from '../../lib/index.ts';
import type { Agents } from '../core/agents.ts';
import type { ExpiryOptions } from '../core/expiry.ts';
import type { HoldGate } from '../embedded/hold-gate.ts';
import type { OpenStepHub } from '../embedded/open-step-hub.ts';
import type { RunServices } from '../embedded/run-execution.ts';
import type { PermitServices } from '../embedded/run-permit.ts';

/** Services of a worker that all its turns share. */
export interface TurnServices extends PermitServices {
  readonly options: RunServices['options'];
  readonly agents: Agents;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly approvals: ExpiryOptions | undefined;
  readonly openSteps: OpenStepHub;
  readonly holds: HoldGate;
  readonly report: (error: unknown, where: string) => void;
}
