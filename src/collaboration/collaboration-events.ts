import type { ChatEvent } from '../chat/index.ts';
import type { EventHeader } from '../events/index.ts';
import { describeEvent } from '../events/index.ts';
import { OrchestratorEvent } from '../step-by-step/index.ts';
import type { TurnChange } from './collaboration-step.ts';

/** A change of the board: what `participant` wrote or approved in the turn. */
export type BoardChange = Extract<TurnChange, { readonly type: 'write' | 'approve' }>;

/** The board has changed, or something on it was approved. */
export class BoardUpdated extends OrchestratorEvent {
  readonly type = 'BoardUpdated';
  readonly changes: readonly BoardChange[];

  constructor(header: EventHeader, orchestrator: string, changes: readonly BoardChange[]) {
    super(header, orchestrator);
    this.changes = changes;
  }

  override describe(): string {
    return describeEvent(this);
  }
}

/** Every event of a collaboration, including those of the runs inside turns. */
export type CollaborationEvent = ChatEvent | BoardUpdated;
