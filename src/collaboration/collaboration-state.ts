// The state of several who work on one task.
// Owns:     the board and the approvals: the one is kept in the store, the others are read from the steps.
// S1. An approval counts for what its giver had before them: the input that the turn was begun with, and the version that it names.
import { getLastInput, getSpeaker, TurnState, withoutCalls } from '../chat/index.ts';
import { omitUndefined, systemIds } from '../lib/index.ts';
import type { IdSource } from '../lib/index.ts';
import type { NewStateOptions, PendingStep, StateCodec } from '../step-by-step/index.ts';
import { createStateCodec, RunState } from '../step-by-step/index.ts';
import { Board, checkArtifact, withWrites } from './board.ts';
import { completionOnly } from './board-tool.ts';
import type { CollaborationStep } from './collaboration-step.ts';
import { collaborationCodec } from './step-codec.ts';

/** An agreement with an artifact as it stood. */
export interface Approval {
  readonly by: string;
  readonly artifact: string;
  readonly version: number;
  readonly note?: string;
}

export class CollaborationState extends TurnState<CollaborationStep> {
  /** Stored form. */
  static get codec(): StateCodec<CollaborationState> {
    return codec;
  }

  #board: Board | undefined;

  /** An empty collaboration. */
  static empty(options: NewStateOptions = {}): CollaborationState {
    return new CollaborationState(RunState.emptyData(options));
  }

  /** Reads a stored state. */
  static fromJSON(stored: unknown): CollaborationState {
    return CollaborationState.codec.decode(stored);
  }

  toJSON(): unknown {
    return CollaborationState.codec.encode(this);
  }

  /** The board so far. */
  get board(): Board {
    return (this.#board ??= Board.in(this.store));
  }

  /** The task: the first message from outside; '' if there is none yet. */
  get task(): string {
    for (const message of this.messages) if (getSpeaker(message) === undefined && message.isUser()) return message.text;
    return '';
  }

  /** Turns of this execution that started after the last message from outside, oldest first, including failed ones. */
  get turnsSinceInput(): readonly CollaborationStep[] {
    const input = getLastInput(this);
    return this.steps.filter((step) => step.input === input);
  }

  /** Valid approvals since the last message from outside: given in a turn that completed, for content that has not changed since. */
  get approvals(): readonly Approval[] {
    const { board } = this;
    return this.turnsSinceInput.flatMap(({ participant, changes = [], errors, interrupted }) =>
      changes.flatMap((change) => {
        if (change.type !== 'approve' || participant === undefined || errors.length > 0 || interrupted !== undefined) return [];
        if (board.get(change.artifact)?.version !== change.version) return [];
        const { artifact, version, note } = change;
        return [omitUndefined({ by: participant, artifact, version, note })];
      }),
    );
  }

  override closePendingStep(pending: PendingStep<CollaborationStep>, why: 'superseded' | 'interrupted', ids?: IdSource): CollaborationStep {
    const { unfinished, ...step } = super.closePendingStep(pending, why, ids);
    return omitUndefined({ ...step, unfinished: withoutCalls(unfinished, completionOnly) });
  }

  /** Puts an artifact on the board from outside, as a starting point. */
  withArtifact(name: string, content: string, { ids = systemIds }: { readonly ids?: IdSource } = {}): this {
    checkArtifact(name, content);
    const version = (this.board.get(name)?.version ?? 0) + 1;
    return this.evolve({ store: withWrites(this.store, [{ id: ids(), artifact: name, version, content }]) });
  }
}

// Outside the class: a static field runs code, so bundlers would keep the class even if nothing uses it.
const codec: StateCodec<CollaborationState> = createStateCodec<CollaborationState, CollaborationStep>({
  kind: 'collaboration-state',
  step: collaborationCodec,
  build: (data) => new CollaborationState(data),
});
