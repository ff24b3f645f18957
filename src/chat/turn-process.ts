// The turn engine: one step is one turn of one participant. Chat and Collaboration run on it.
// Owns:     the order of a turn: who has it, what is said, what is recorded.
// Does not: know the kinds of participants and selectors, or judge.
// E1. A turn is recorded once, under the name of its participant, however it ended: words, failure, silence or a wait.
// E2. A turn that is to be retried or was interrupted stays with its participant.
// E3. A turn that had to wait is resumed by the same participant; nobody is selected twice for it.
// E4. Words that a person gave are said, even if a newer release has somebody else, or nobody, under that name.
import type { ContinuationEvaluation } from '../continuation/index.ts';
import { ContinuationDecision, StopReason } from '../continuation/index.ts';
import { classifyError } from '../errors/index.ts';
import { reportSafely } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { InvalidArgumentError, omitUndefined } from '../lib/index.ts';
import { Message, textPart, Usage } from '../messages/index.ts';
import type { EmptyStep, ProducedStep, StepProcess } from '../step-by-step/index.ts';
import { TextDelta } from '../tool-use/index.ts';
import { ParticipantSelected, PersonAsked } from './chat-events.ts';
import type { ChatStep, Selection } from './chat-step.ts';
import { chooseSpeaker } from './choose-speaker.ts';
import { closeTurn, withoutCalls } from './inner-record.ts';
import { ParticipantChangedError } from './participant-changed-error.ts';
import type { JoinedParticipant, Turn, TurnResult } from './participant.ts';
import { toTurnResult } from './participants/function.ts';
import type { OpenTurn, TurnSetup } from './turn-setup.ts';
import type { TurnState } from './turn-state.ts';
import { getLastInput, turnMetadata } from './turn-state.ts';

/** Creates the process of a conversation in which several take turns. */
export function createTurnProcess<State extends TurnState<S>, S extends ChatStep, Context>(
  setup: TurnSetup<State, S>,
): StepProcess<State, Context>;
export function createTurnProcess(setup: TurnSetup<TurnState, ChatStep>): StepProcess<TurnState> {
  const { name, joined, criteria, identity, workLeft, extension } = setup;
  return {
    name,
    criteria,
    identity,
    takesTurns: true,
    workLeft,
    checkContext: (context) => {
      const needing = joined.find(({ needsContext }) => needsContext);
      if (needing !== undefined && context === undefined)
        throw new InvalidArgumentError(
          `${needing.name} needs a context: its tools, hooks or instructions read it. Pass { context } to run() or start(), also when you resume a state.`,
        );
    },
    produce: (state, scope) => {
      const at = { setup, state, scope };
      return state.pendingStep === undefined ? beginTurn(at) : resumeTurn(at, state.pendingStep.partial);
    },
    ...omitUndefined({ inspect: extension.inspect }),
    emptyStep,
    // Calls that were made must not be forgotten.
    isRepeatable: ({ outputMessages, inner, unfinished }) =>
      outputMessages.length === 0 && unfinished === undefined && inner?.calls === undefined,
  };
}

const emptyStep = (facts: EmptyStep): ChatStep => ({ ...facts, outputMessages: [], usage: Usage.none() });

/** The evaluation of a selector that ended the conversation. */
const toEndEvaluation = ({ by }: Selection, reason: string): ContinuationEvaluation => ({
  criterion: by,
  decision: ContinuationDecision.ForbidContinuation,
  reason,
  stopReason: StopReason.Completed,
  context: {},
});

async function beginTurn(at: OpenTurn): Promise<ProducedStep<ChatStep>> {
  const { setup, state, scope } = at;
  const empty = omitUndefined({ ...emptyStep({ id: scope.ids(), errors: [] }), input: getLastInput(state) });
  const chosen = await chooseSpeaker(at);
  if (chosen.type === 'failed')
    return { type: 'step', step: scope.control.interruption === undefined ? { ...empty, errors: [chosen.failure] } : empty };
  const { selection } = chosen;
  if (chosen.type === 'end') {
    scope.notes.add({ evaluations: [toEndEvaluation(selection, chosen.reason)] });
    return { type: 'step', step: { ...empty, selection } };
  }
  const { participant } = chosen;
  scope.events.beginTurn(participant);
  scope.events.emit((header) => new ParticipantSelected(header, setup.name, selection));
  return takeTurn(at, { ...empty, participant, selection });
}

/** Resumes a turn that had to wait. Its participant is emitted again. */
function resumeTurn(at: OpenTurn, parked: ChatStep): Promise<ProducedStep<ChatStep>> {
  const { selection = { by: 'resumed' } } = parked;
  at.scope.events.emit((header) => new ParticipantSelected(header, at.setup.name, { ...selection, resumed: true }));
  return takeTurn(at, parked, parked);
}

/** Finds who takes the turn. A participant of another kind than the one that began it could not resume it. */
function findSpeaker({ setup, state }: OpenTurn, step: ChatStep, turn: Turn): Pick<JoinedParticipant, 'speak'> {
  const found = setup.joined.find(({ name }) => name === step.participant);
  const kind = step.memo?.kind;
  if (found !== undefined && (kind === undefined || kind === found.kind)) return found;
  const asked = state.pendingStep?.waits.find(({ type }) => type === 'person');
  const answer = turn.answers.find(({ id }) => id === asked?.id);
  if (answer?.type === 'answered') return { speak: () => Promise.resolve(toTurnResult(turn, answer.value, 'user')) };
  throw new ParticipantChangedError(step.participant ?? 'somebody', { was: kind, is: found?.kind });
}

/** Takes the turn, from the beginning or from the point at which it had to wait. Never throws. */
async function takeTurn(at: OpenTurn, step: ChatStep, parked?: ChatStep): Promise<ProducedStep<ChatStep>> {
  const { setup, state, scope } = at;
  const { memo: _, ...rest } = step;
  const { extension } = setup;
  const participant = step.participant ?? '';
  const equipment = extension.equip?.(state, participant);
  const completionOnly = equipment?.completionOnly ?? [];
  // Changes stay made, however the turn ends.
  const withChanges = (turn: ChatStep, said: readonly JsonObject[] = []): ChatStep => {
    const changes = [...said, ...(equipment?.changes() ?? [])];
    return changes.length === 0 ? turn : (extension.withChanges?.(turn, changes, at) ?? turn);
  };
  try {
    const turn: Turn = {
      state,
      scope,
      parked,
      answers: state.pendingStep?.answers ?? [],
      parse: (said) => extension.parse(said, { state, participant, shown: parked?.memo?.state }),
      shown: extension.shown?.(state),
      equipment: equipment?.capability,
      hint: extension.hint?.(state, participant),
      report: (error) => reportSafely(scope.onProblem, error, `the turn of ${participant}`),
    };
    const result = await findSpeaker(at, step, turn).speak(turn);
    const changed = withChanges(
      omitUndefined({ ...rest, inner: result.inner ?? rest.inner }),
      result.type === 'said' ? result.changes : [],
    );
    return result.type === 'said'
      ? toSaidStep(at, changed, { ...result, unfinished: withoutCalls(result.unfinished, completionOnly) })
      : toParkedStep(at, changed, result);
  } catch (error) {
    // An error because the run was interrupted is not a failure.
    const errors = scope.control.interruption === undefined ? [classifyError(error, { readable: false })] : [];
    const closed = parked === undefined ? rest : closeTurn(parked, { why: 'interrupted', at: state.messages.length, ids: scope.ids });
    const { unfinished, ...left } = closed;
    return {
      type: 'step',
      step: omitUndefined({ ...withChanges(left), errors, unfinished: withoutCalls(unfinished, completionOnly) }),
    };
  }
}

/** Parks a turn and emits whose words are wanted; waits of a run inside were emitted by that run. */
function toParkedStep(
  { setup, scope }: OpenTurn,
  step: ChatStep,
  { waits, memo }: Extract<TurnResult, { readonly type: 'waiting' }>,
): ProducedStep<ChatStep> {
  for (const wait of waits) {
    if (wait.type !== 'person' || wait.agent !== undefined) continue;
    scope.events.emit((header) => new PersonAsked(header, setup.name, { ...wait, waitId: `${scope.nesting.path}${wait.id}` }));
  }
  return { type: 'waiting', partial: { ...step, memo }, waits };
}

/** Completes a turn with its words. */
function toSaidStep(
  { setup, scope }: OpenTurn,
  step: ChatStep,
  {
    role,
    parts,
    errors = [],
    finishReason,
    inner,
    window,
    unfinished,
    wasInterrupted = false,
  }: Extract<TurnResult, { readonly type: 'said' }>,
): ProducedStep<ChatStep> {
  const isSaid = errors.length === 0 && !wasInterrupted;
  const isWhole = isSaid && scope.control.interruption === undefined;
  const content = {
    id: scope.ids(),
    role,
    parts: parts.length > 0 ? parts : [textPart('')],
    metadata: turnMetadata,
    name: step.participant,
  };
  const message = new Message(omitUndefined(content));
  // Words that no model streams are emitted in one piece.
  if (isSaid && inner === undefined && message.text !== '')
    scope.events.emitPiece((header) => new TextDelta(header, setup.name, message.text));
  return {
    type: 'step',
    step: omitUndefined({
      ...step,
      outputMessages: isSaid ? [message] : [],
      errors,
      finishReason,
      window,
      unfinished: isWhole ? undefined : unfinished,
      interrupted: wasInterrupted ? (scope.control.ending ?? 'vote') : undefined,
    }),
  };
}
