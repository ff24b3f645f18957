// A collaboration: several who work on one task, on a shared board.
// Owns:     what it adds to the turns of a chat: the board in everybody's hands, handing over, and when the task is done.
import type { ContextOfParticipants, Conversation, ConversationOptions, Participant } from '../chat/index.ts';
import { checkConversationOptions, createConversation, EveryoneHasSpoken, viewMessages } from '../chat/index.ts';
import { createEventBus } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { InvalidArgumentError, omitUndefined } from '../lib/index.ts';
import type { StateType, StepScope } from '../step-by-step/index.ts';
import type { BoardWrite } from './board.ts';
import { withWrites } from './board.ts';
import { equip } from './board-tools.ts';
import type { CollaborationEvent } from './collaboration-events.ts';
import { BoardUpdated } from './collaboration-events.ts';
import { CollaborationState } from './collaboration-state.ts';
import type { CollaborationStep } from './collaboration-step.ts';
import { AnswersHandoffs, getHandoff } from './handoff.ts';
import type { Completion, PreparedCompletion } from './completion.ts';
import { checkFit, TaskCompletion, toCompletion } from './completion.ts';
import { parseContribution } from './contribution.ts';
import { readChange } from './step-codec.ts';

/** Options of a collaboration. */
export interface CollaborationOptions<
  Given extends readonly Participant<never>[] = readonly Participant<never>[],
> extends ConversationOptions<CollaborationState, ContextOfParticipants<Given>, CollaborationEvent> {
  /** Name of the collaboration in stored records. @default 'collaboration' */
  readonly id?: string;
  /** Collaborators in the order of their turns; each has a name of its own. */
  readonly collaborators: Given;
  /** Conditions under which the task is done. @default everyone has spoken since the last input */
  readonly done?: Completion;
}

/** A collaboration, ready to be run. */
export interface Collaboration<Context = unknown> extends Conversation<CollaborationState, Context, CollaborationEvent> {
  readonly name: 'collaboration';
  /** Returns the same collaboration with some of its options replaced; all others stay, its listeners too. */
  with(changes: Partial<CollaborationOptions<readonly Participant<Context>[]>>): Collaboration<Context>;
}

/** Kind of state, for programs that read stored states without running them. */
export const collaborationStates: StateType<CollaborationState> = {
  ...CollaborationState.codec,
  empty: (options) => CollaborationState.empty(options),
  is: (value) => value instanceof CollaborationState,
  viewMessages,
};

/** Puts what was written in a turn on the board, and the changes on the turn. */
function withChanges(
  step: CollaborationStep,
  given: readonly JsonObject[],
  { state, scope }: { readonly state: CollaborationState; readonly scope: StepScope },
): CollaborationStep {
  const changes = given.map((change) => readChange(change, 'change'));
  const before = step.changes ?? [];
  const writes = given.flatMap((change, index): readonly Omit<BoardWrite, 'id'>[] => {
    const { type, content } = change;
    const written = changes[index];
    if (written?.type !== 'write' || type !== 'write' || typeof content !== 'string') return [];
    return [{ artifact: written.artifact, version: written.version, content, author: step.participant }];
  });
  const first = 1 + before.filter(({ type }) => type === 'write').length;
  // Each write is named by its place: the same id at every attempt, and never that of another write.
  const toId = (index: number): string => `${scope.executionId}/${scope.stepNumber}/board/${first + index}`;
  if (writes.length > 0)
    scope.notes.add({
      store: withWrites(
        state.store,
        writes.map((write, index) => ({ ...write, id: toId(index) })),
      ),
    });
  const boardChanges = changes.filter((change) => change.type !== 'handoff');
  if (boardChanges.length > 0) scope.events.emit((header) => new BoardUpdated(header, 'collaboration', boardChanges));
  return { ...step, changes: [...before, ...changes] };
}

// A collaborator without a board could never approve, and would be asked for ever.
function checkApprovers(collaborators: readonly Participant<never>[], completion: PreparedCompletion | undefined): void {
  const unable = collaborators.find(({ name, takesEquipment = true }) => !takesEquipment && completion?.approvedBy.includes(name) === true);
  if (unable !== undefined)
    throw new InvalidArgumentError(
      `createCollaboration(): ${unable.name} is listed in done.approvedBy but cannot use the board. Create it with agentCollaborator().`,
    );
}

/** Writes the prompt for a person who may approve. */
function writeHint(state: CollaborationState, participant: string, completion: PreparedCompletion | undefined): string | undefined {
  const artifacts =
    completion?.approvedBy.includes(participant) === true
      ? completion.artifact === undefined
        ? state.board.artifacts
        : [state.board.get(completion.artifact)]
      : [];
  const open = artifacts.flatMap((artifact) => (artifact === undefined ? [] : [`"${artifact.name}" (version ${artifact.version})`]));
  return open.length === 0 ? undefined : `Approve ${open.join(', ')} with { approves: [name] }, or say what has to change.`;
}

async function inspect(candidate: CollaborationState, completion: PreparedCompletion, scope: StepScope): Promise<CollaborationStep> {
  const step = candidate.execution.judgedStep;
  if (step === undefined) throw new TypeError('A candidate has the step that is judged.');
  return omitUndefined({ ...step, fit: await checkFit(candidate, completion, scope) });
}

/**
 * Creates a collaboration. Its input is the task, its result the board. By default collaborators take their turns one after
 * the other, and whoever is handed the turn goes first; it ends when `done` holds, or, without it, when each has had a turn; it stops
 * at 16 turns, 500,000 tokens, a model that was cut off or filtered, and any failed turn.
 */
export function createCollaboration<const Given extends readonly Participant<never>[]>(
  options: CollaborationOptions<Given>,
): Collaboration<ContextOfParticipants<Given>>;
export function createCollaboration(options: CollaborationOptions): Collaboration {
  checkConversationOptions('createCollaboration()', options, { key: 'collaborators', more: ['done'] });
  const { collaborators, done, id = 'collaboration' } = options;
  const events = options.events ?? createEventBus<CollaborationEvent>(options.ports?.onProblem);
  const names = collaborators.map(({ name }) => name);
  const completion = toCompletion(done, names);
  checkApprovers(collaborators, completion);
  const rights = { names, approvers: completion?.approvedBy ?? [] };
  const collaboration = createConversation<CollaborationState, CollaborationStep, never, CollaborationEvent>(
    { ...options, events },
    {
      name: 'collaboration',
      id,
      participants: collaborators,
      states: collaborationStates,
      extension: {
        parse: (said, at) => parseContribution(said, at, rights),
        claim: ({ lastStepResult }) => getHandoff(lastStepResult?.step),
        equip: (state, participant) => equip(state, participant, { rights, completion }),
        withChanges,
        shown: ({ board }) => Object.fromEntries(board.artifacts.map((each) => [each.name, each.version])),
        hint: (state, participant) => writeHint(state, participant, completion),
        ...(completion?.schema !== undefined && {
          inspect: (candidate: CollaborationState, scope: StepScope) => inspect(candidate, completion, scope),
        }),
      },
      driver: (all) => (completion === undefined ? new AnswersHandoffs(all) : new TaskCompletion(completion, new EveryoneHasSpoken(all))),
      ...(completion !== undefined && {
        configuration: {
          approvedBy: completion.approvedBy,
          artifact: completion.artifact ?? null,
          schema: completion.schema?.json ?? null,
        },
      }),
    },
  );
  return { ...collaboration, name: 'collaboration', with: (changes) => createCollaboration({ ...options, events, ...changes }) };
}
