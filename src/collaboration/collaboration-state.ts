// The state of several who work on one task.
// Owns:     the board and the approvals: the one is kept in the store, the others are read from the steps.
import { TurnState, speakerOf } from '../chat/index.ts';
import { systemIds } from '../lib/index.ts';
import type { IdSource } from '../lib/index.ts';
import type { NewStateOptions, StateCodec } from '../step-by-step/index.ts';
import { createStateCodec, RunState } from '../step-by-step/index.ts';
import { Board, checkArtifact, withWrites } from './board.ts';
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
  /** How it is stored. */
  static readonly codec: StateCodec<CollaborationState> = createStateCodec<CollaborationState, CollaborationStep>({
    kind: 'collaboration-state',
    step: collaborationCodec,
    build: (data) => new CollaborationState(data),
  });

  #board: Board | undefined;

  /** A collaboration in which nothing was said yet. */
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

  /** What was made so far. */
  get board(): Board {
    return (this.#board ??= Board.in(this.store));
  }

  /** What it is all about: the first words from outside; '' where there are none yet. */
  get task(): string {
    for (const message of this.messages) if (speakerOf(message) === undefined && message.isUser()) return message.text;
    return '';
  }

  /** The turns of this execution since the last word from outside, oldest first; those that failed are among them. */
  get turnsSinceInput(): readonly CollaborationStep[] {
    const { messages, steps } = this;
    let spoken = 0;
    while (spoken < messages.length && isTurn(messages.at(-1 - spoken))) spoken += 1;
    const taken = steps.flatMap(({ outputMessages }, index) => (outputMessages.length > 0 ? [index] : []));
    // Where words from outside joined the execution, what was said before them stands before them.
    const lastBefore = taken[taken.length - spoken - 1];
    return lastBefore === undefined ? steps : steps.slice(lastBefore + 1);
  }

  /** The approvals since the last word from outside that hold: of an artifact that has not changed since. */
  get approvals(): readonly Approval[] {
    const { board } = this;
    return this.turnsSinceInput.flatMap(({ participant, acts = [] }) =>
      acts.flatMap((act) => {
        if (act.type !== 'approve' || participant === undefined || board.get(act.artifact)?.version !== act.version) return [];
        const { artifact, version, note } = act;
        return [{ by: participant, artifact, version, ...(note !== undefined && { note }) }];
      }),
    );
  }

  /** Puts an artifact on the board from outside: something to begin with. */
  withArtifact(name: string, content: string, { ids = systemIds }: { readonly ids?: IdSource } = {}): this {
    checkArtifact(name, content);
    const version = (this.board.get(name)?.version ?? 0) + 1;
    return this.evolve({ store: withWrites(this.store, [{ id: ids(), artifact: name, version, content }]) });
  }
}

const isTurn = (message: Parameters<typeof speakerOf>[0] | undefined): boolean => message !== undefined && speakerOf(message) !== undefined;
