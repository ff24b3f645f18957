// A collaboration: several who work on one task, on a shared board.
// Owns:     what it adds to the turns of a chat: the board in everybody's hands, handing over, and when the task is done.
import type { ContextOfParticipants, Conversation, ConversationOptions, Participant } from '../chat/index.ts';
import { checkConversationOptions, createConversation, EveryoneHasSpoken } from '../chat/index.ts';
import { createEventBus } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { assertNever, InvalidArgumentError } from '../lib/index.ts';
import type { StateType, StepScope } from '../step-by-step/index.ts';
import type { BoardWrite } from './board.ts';
import { withWrites } from './board.ts';
import { equip } from './board-tools.ts';
import type { BoardChange, CollaborationEvent } from './collaboration-events.ts';
import { BoardUpdated } from './collaboration-events.ts';
import { CollaborationState } from './collaboration-state.ts';
import type { Act, CollaborationStep, Fit } from './collaboration-step.ts';
import { AnswersHandoffs, getHandoff } from './handoff.ts';
import type { Completion, ReadyCompletion } from './completion.ts';
import { checkFit, TaskCompletion, toCompletion } from './completion.ts';
import { readContribution } from './contribution.ts';

/** What a collaboration is made from. */
export interface CollaborationOptions<
  Given extends readonly Participant<never>[] = readonly Participant<never>[],
> extends ConversationOptions<CollaborationState, ContextOfParticipants<Given>, CollaborationEvent> {
  /** Who it is, in what is stored. @default 'collaboration' */
  readonly id?: string;
  /** Those who work together, in the order of their turns; each with a name of its own. */
  readonly collaborators: Given;
  /** When the task is done. @default when everyone has spoken since the last input */
  readonly done?: Completion;
}

/** A collaboration, ready to be run. */
export interface Collaboration<Context = unknown> extends Conversation<CollaborationState, Context, CollaborationEvent> {
  readonly name: 'collaboration';
  /** The same collaboration with some of its options replaced; all others stay, its listeners too. */
  with(changes: Partial<CollaborationOptions<readonly Participant<Context>[]>>): Collaboration<Context>;
}

const states: StateType<CollaborationState> = {
  ...CollaborationState.codec,
  empty: (options) => CollaborationState.empty(options),
  is: (value) => value instanceof CollaborationState,
};

/** The act without what the board itself keeps. */
function asRecorded(given: JsonObject): Act {
  // Holds: acts are made by the tools of the board and by what was read of a contribution.
  const act = given as unknown as Act;
  switch (act.type) {
    case 'write':
      return { type: 'write', artifact: act.artifact, version: act.version };
    case 'approve':
      return { type: 'approve', artifact: act.artifact, version: act.version, ...(act.note !== undefined && { note: act.note }) };
    case 'handoff':
      return { type: 'handoff', to: act.to, reason: act.reason };
    default:
      return assertNever(act);
  }
}

/** Puts what was written in a turn on the board, and keeps on the turn what was done. */
function withActs(
  step: CollaborationStep,
  given: readonly JsonObject[],
  { state, scope }: { readonly state: CollaborationState; readonly scope: StepScope },
): CollaborationStep {
  const acts = given.map(asRecorded);
  const before = step.acts ?? [];
  const written = before.filter(({ type }) => type === 'write').length;
  const writes = given
    .filter(({ type }) => type === 'write')
    .map((act, index): BoardWrite => {
      // Holds: the same as above.
      const { artifact, version, content } = act as unknown as BoardWrite;
      // Named by its place: the same at every attempt, and never that of another write.
      const id = `${scope.executionId}/${scope.stepNumber}/board/${written + index + 1}`;
      return { id, artifact, version, content, author: step.participant };
    });
  if (writes.length > 0) scope.notes.add({ store: withWrites(state.store, writes) });
  const changes = acts.filter((act): act is BoardChange => act.type !== 'handoff');
  if (changes.length > 0) scope.events.emit((header) => new BoardUpdated(header, 'collaboration', changes));
  return { ...step, acts: [...before, ...acts] };
}

// One into whose hands no board can be put would be asked for ever.
function checkApprovers(collaborators: readonly Participant<never>[], completion: ReadyCompletion | undefined): void {
  const unable = collaborators.find(({ name, takesEquipment = true }) => !takesEquipment && completion?.approvedBy.includes(name) === true);
  if (unable !== undefined)
    throw new InvalidArgumentError(
      `createCollaboration(): ${unable.name} is to approve, but has no board in its hands. Make it with agentCollaborator().`,
    );
}

/** What a person has to know who may approve. */
function hintFor(state: CollaborationState, participant: string, completion: ReadyCompletion | undefined): string | undefined {
  const artifacts =
    completion?.approvedBy.includes(participant) === true
      ? completion.artifact === undefined
        ? state.board.artifacts
        : [state.board.get(completion.artifact)]
      : [];
  const open = artifacts.flatMap((artifact) => (artifact === undefined ? [] : [`"${artifact.name}" (version ${artifact.version})`]));
  return open.length === 0 ? undefined : `Approve ${open.join(', ')} with { approves: [name] }, or say what has to change.`;
}

/** What is looked at again: a finding about the same version, by the same form, that was really found. */
const isSame = (before: Fit | undefined, now: Pick<Fit, 'artifact' | 'version' | 'schema'>): before is Fit =>
  before !== undefined &&
  before.artifact === now.artifact &&
  before.version === now.version &&
  before.schema === now.schema &&
  before.isUnknown !== true;

async function inspected(candidate: CollaborationState, completion: ReadyCompletion, scope: StepScope): Promise<CollaborationStep> {
  // Holds: a candidate carries the step that is being judged.
  const step = candidate.execution.judgedStep as CollaborationStep;
  const { artifact, schema, fingerprint } = completion;
  if (artifact === undefined || schema === undefined) return step;
  const before = candidate.lastStepResult?.step.fit;
  const version = candidate.board.get(artifact)?.version ?? 0;
  if (isSame(before, { artifact, version, schema: fingerprint })) return { ...step, fit: before };
  return { ...step, fit: await checkFit(candidate, { artifact, schema, fingerprint }, scope) };
}

/**
 * Makes a collaboration. Its input is the task, its result the board. Unless told otherwise collaborators take their turns one after
 * the other, and whoever is handed the turn goes first; it ends when `done` holds, or, without it, when each has had a turn; it stops
 * at 16 turns, 4,096 tokens, a model that was cut off or filtered, and any failed turn.
 */
export function createCollaboration<const Given extends readonly Participant<never>[]>(
  options: CollaborationOptions<Given>,
): Collaboration<ContextOfParticipants<Given>>;
export function createCollaboration(options: CollaborationOptions): Collaboration {
  checkConversationOptions('createCollaboration', options, { of: 'collaborators', more: ['done'] });
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
      states,
      extension: {
        read: (said, at) => readContribution(said, at, rights),
        claim: ({ lastStepResult }) => getHandoff(lastStepResult?.step),
        equip: (state, participant) => equip(state, participant, { rights, completion }),
        withActs,
        shown: ({ board }) => Object.fromEntries(board.artifacts.map((each) => [each.name, each.version])),
        hint: (state, participant) => hintFor(state, participant, completion),
        ...(completion?.schema !== undefined && {
          inspect: (candidate: CollaborationState, scope: StepScope) => inspected(candidate, completion, scope),
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
