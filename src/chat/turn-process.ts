// The turn engine: one step is one turn of one participant. Chat and Collaboration run on it.
// Owns:     the order of a turn: who has it, what is said, what is recorded.
// Does not: know what kinds of participants and selectors there are, or judge whether to go on.
// E1. A turn is recorded once, under the name of whose turn it was, whatever became of it: words, failure, silence or a wait.
// E2. A turn that did not come to its end, and is to be tried again or was cut off, stays with its participant.
// E3. A turn that had to wait is taken up by the same participant; nobody is chosen twice for it.
// E4. Words that a person gave are said, also where a newer release has somebody else, or nobody, in that place.
import type { ContinuationEvaluation } from '../continuation/index.ts';
import { ContinuationDecision, StopReason } from '../continuation/index.ts';
import { classifyError } from '../errors/index.ts';
import { reportSafely } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { InvalidArgumentError, omitUndefined } from '../lib/index.ts';
import { Message, textPart, Usage } from '../messages/index.ts';
import type { EmptyStep, Produced, StepProcess, StepScope, Wait } from '../step-by-step/index.ts';
import { TextDelta } from '../tool-use/index.ts';
import { ParticipantSelected, PersonAsked } from './chat-events.ts';
import type { ChatStep, Selection } from './chat-step.ts';
import { chooseSpeaker } from './choose-speaker.ts';
import { closedTurn, withoutCalls } from './inner-record.ts';
import { ParticipantChangedError } from './participant-changed-error.ts';
import type { Seat, Spoken, Turn } from './participant.ts';
import { spoken } from './participants/given-words.ts';
import type { Surroundings, TurnSetup } from './turn-setup.ts';
import type { TurnState } from './turn-state.ts';
import { lastInput, turnMetadata } from './turn-state.ts';

/** Makes the process of a conversation in which several take turns. */
export function createTurnProcess<State extends TurnState<S>, S extends ChatStep, Context>(
  setup: TurnSetup<State, S>,
): StepProcess<State, Context>;
export function createTurnProcess(setup: TurnSetup<TurnState, ChatStep>): StepProcess<TurnState> {
  const { name, seats, criteria, identity, workLeft, extension } = setup;
  return {
    name,
    criteria,
    identity,
    takesTurns: true,
    workLeft,
    checkContext: (context) => {
      const needing = seats.find(({ needsContext }) => needsContext);
      if (needing !== undefined && context === undefined)
        throw new InvalidArgumentError(
          `${needing.name} needs a context, which its tools, hooks or instructions read. Pass { context } with the run, also when you go on with a state.`,
        );
    },
    produce: (state, scope) => {
      const at = { setup, state, scope };
      return state.pendingStep === undefined ? beginTurn(at) : goOn(at, state.pendingStep.partial);
    },
    ...omitUndefined({ inspect: extension.inspect }),
    emptyStep,
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

async function beginTurn(at: Surroundings): Promise<Produced<ChatStep>> {
  const { setup, state, scope } = at;
  const input = lastInput(state);
  const empty = { ...emptyStep({ id: scope.ids(), errors: [] }), ...(input !== undefined && { input }) };
  const chosen = await chooseSpeaker(at);
  if (chosen.type === 'failed')
    return { type: 'step', step: { ...empty, ...(scope.control.interruption === undefined && { errors: [chosen.failure] }) } };
  const { selection } = chosen;
  if (chosen.type === 'end') {
    scope.notes.add({ evaluations: [toEndEvaluation(selection, chosen.reason)] });
    return { type: 'step', step: { ...empty, selection } };
  }
  const { participant } = chosen;
  scope.events.beginTurn(participant);
  scope.events.emit((header) => new ParticipantSelected(header, setup.name, selection));
  return takeTurn(at, { step: { ...empty, participant, selection }, isParked: false });
}

/** Takes up a turn that had to wait. Whoever follows the events hears again whose it is. */
function goOn(at: Surroundings, step: ChatStep): Promise<Produced<ChatStep>> {
  const { selection = { by: 'resumed' } } = step;
  at.scope.events.emit((header) => new ParticipantSelected(header, at.setup.name, selection, { resumed: true }));
  return takeTurn(at, { step, isParked: true });
}

/** Who takes the turn. One who is not the one that it was begun by could not go on with it. */
function seatFor({ setup, state }: Surroundings, step: ChatStep, turn: Turn): Pick<Seat, 'speak'> {
  const seat = setup.seats.find(({ name }) => name === step.participant);
  const kind = step.memo?.kind;
  if (seat !== undefined && (kind === undefined || kind === seat.kind)) return seat;
  const asked = state.pendingStep?.waits.find(({ type }) => type === 'person');
  const answer = turn.answers.find(({ id }) => id === asked?.id);
  if (answer?.type === 'answered') return { speak: () => Promise.resolve(spoken(turn, answer.value, 'user')) };
  throw new ParticipantChangedError(step.participant ?? 'somebody', { was: kind, is: seat?.kind });
}

/** The turn itself, from the beginning or from where it had to wait. Never throws. */
async function takeTurn(
  at: Surroundings,
  { step, isParked }: { readonly step: ChatStep; readonly isParked: boolean },
): Promise<Produced<ChatStep>> {
  const { setup, state, scope } = at;
  const { memo: _, ...rest } = step;
  const { extension } = setup;
  const participant = step.participant ?? '';
  const equipment = extension.equip?.(state, participant);
  const done = (): readonly JsonObject[] => equipment?.acts() ?? [];
  const uncounted = equipment?.uncounted ?? [];
  try {
    const turn: Turn = {
      state,
      scope,
      parked: isParked ? step : undefined,
      answers: state.pendingStep?.answers ?? [],
      read: (said) => extension.read(said, { state, participant, shown: isParked ? step.memo?.state : undefined }),
      shown: extension.shown?.(state),
      equipment: equipment?.capability,
      hint: extension.hint?.(state, participant),
      report: (error) => reportSafely(setup.onProblem, error, `the turn of ${participant}`),
    };
    const came = await seatFor(at, step, turn).speak(turn);
    const acts = [...(came.type === 'said' ? (came.acts ?? []) : []), ...done()];
    const worked = withActs(at, { ...rest, ...(came.inner !== undefined && { inner: came.inner }) }, acts);
    return recorded(at, worked, came.type === 'said' ? { ...came, unfinished: withoutCalls(came.unfinished, uncounted) } : came);
  } catch (error) {
    // What is thrown because the run was cut off is no failure.
    const errors = scope.control.interruption === undefined ? [classifyError(error, { readable: false })] : [];
    const closed = isParked ? closedTurn(step, { why: 'interrupted', at: state.messages.length, ids: scope.ids }) : rest;
    const { unfinished, ...left } = closed;
    const known = withoutCalls(unfinished, uncounted);
    return { type: 'step', step: { ...withActs(at, left, done()), errors, ...(known !== undefined && { unfinished: known }) } };
  }
}

/** The turn with what was done in it. What was done stays done, whatever became of the turn. */
function withActs(at: Surroundings, step: ChatStep, acts: readonly JsonObject[]): ChatStep {
  return acts.length === 0 ? step : (at.setup.extension.withActs?.(step, acts, at) ?? step);
}

/** Tells of people whose words are wanted; what a run inside waits for it has told itself. */
function tellWhoIsAsked(name: string, scope: StepScope, waits: readonly Wait[]): void {
  for (const wait of waits) {
    if (wait.type !== 'person' || wait.agent !== undefined) continue;
    const { prompt, problem } = wait;
    scope.events.emit((header) => new PersonAsked(header, name, { waitId: `${scope.nesting.path}${wait.id}`, prompt, problem }));
  }
}

/** What came of a turn, as it is kept. */
function recorded({ setup, scope }: Surroundings, step: ChatStep, came: Spoken): Produced<ChatStep> {
  if (came.type === 'waiting') {
    tellWhoIsAsked(setup.name, scope, came.waits);
    return { type: 'waiting', partial: { ...step, memo: came.memo }, waits: came.waits };
  }
  const { role, parts, errors = [], finishReason, window, unfinished, isCutOff = false } = came;
  const isSaid = errors.length === 0 && !isCutOff;
  const isWhole = isSaid && scope.control.interruption === undefined;
  const message = new Message({
    id: scope.ids(),
    role,
    parts: parts.length > 0 ? parts : [textPart('')],
    metadata: turnMetadata,
    ...(step.participant !== undefined && { name: step.participant }),
  });
  // Words that no model streams are told in one piece.
  if (isSaid && came.inner === undefined && message.text !== '')
    scope.events.emitPiece((header) => new TextDelta(header, setup.name, message.text));
  return {
    type: 'step',
    step: {
      ...step,
      outputMessages: isSaid ? [message] : [],
      errors,
      ...(finishReason !== undefined && { finishReason }),
      ...(window !== undefined && { window }),
      ...(!isWhole && unfinished !== undefined && { unfinished }),
      ...(isCutOff && { interrupted: scope.control.ending ?? 'vote' }),
    },
  };
}
