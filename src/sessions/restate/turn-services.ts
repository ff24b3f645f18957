import type { Clock, IdSource } from '../../lib/index.ts';
import type { Agents, ExpiryOptions, HoldGate, OpenStepHub, PermitServices, RunServices, SessionRuntimeOptions } from '../index.ts';

/** Services of a worker that all its turns share. */
export interface TurnServices extends PermitServices {
  readonly options: RunServices['options'] & Pick<SessionRuntimeOptions, 'onVersionChange'>;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly approvals: ExpiryOptions | undefined;
  readonly openSteps: OpenStepHub;
  readonly holds: HoldGate;
  readonly report: (error: unknown, where: string) => void;
}
