// The turn engine: one step is one turn of one participant. Chat and Collaboration run on it.
// Owns:     the order of a turn: who has it, what is said, what is recorded.
// Does not: know what kinds of participants and selectors there are, or judge whether to go on.
// E1. A turn is recorded once, under the name of whose turn it was, whatever became of it: words, failure, silence or a wait.
// E2. A turn that failed and is to be tried again stays with its participant.
// E3. A turn that had to wait is taken up by the same participant; nobody is chosen twice for it.
import type { ContinuationCriteria } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import type { Capability, Pricing } from '../hooks/index.ts';
import { askModel } from '../hooks/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import { Message, textPart, Usage } from '../messages/index.ts';
import type { EmptyStep, Produced, StepProcess, StepScope, Wait } from '../step-by-step/index.ts';
import { underKey } from '../step-by-step/index.ts';
import { TextDelta } from '../tool-use/index.ts';
import { ParticipantSelected, PersonAsked } from './chat-events.ts';
import type { ChatStep, Selection } from './chat-step.ts';
import type { Reading, Seat, Spoken } from './participant.ts';
import { infoOf } from './participant.ts';
import { nextAfter } from './selectors/round-robin.ts';
import type { Choice, SelectionFacts, Selector } from './selectors/selector.ts';
import { TurnNotGivenError } from './selectors/turn-not-given-error.ts';
import type { TurnState } from './turn-state.ts';
import { lastSpeaker, turnMetadata } from './turn-state.ts';

/** What a participant has in its hands in one turn. */
export interface Equipment {
  readonly capability: Capability;
  /** What was done with it until now, in the order in which it was done. */
  acts(): readonly JsonObject[];
}

/** What an orchestrator adds to the turns. */
export interface TurnExtension<State extends TurnState<S>, S extends ChatStep> {
  /** Reads what somebody said who is no model. */
  read(said: unknown, at: { readonly state: State; readonly participant: string }): Reading;
  /** Who has the turn whatever the selector says. */
  claim?(state: State): (Choice & { readonly by: string }) | undefined;
  /** What a participant has in its hands in this turn. */
  equip?(state: State, participant: string): Equipment;
  /** Decision-relevant work on a turn before it is judged. */
  inspect?(candidate: State): S | Promise<S>;
  /** The turn with what was done in it beside the words, since it was last worked on. */
  withActs?(step: ChatStep, acts: readonly JsonObject[], at: { readonly state: State; readonly scope: StepScope }): S;
}

/** What the turns of one orchestrator are made from. */
export interface TurnSetup<State extends TurnState<S>, S extends ChatStep> {
  /** The kind of orchestrator, as events name it. */
  readonly name: string;
  readonly seats: readonly Seat[];
  readonly selector: Selector;
  readonly criteria: ContinuationCriteria<State>;
  readonly pricing: Pricing;
  readonly extension: TurnExtension<State, S>;
  readonly identity: JsonObject;
  /** Whether ending now would leave something undone. */
  readonly workLeft: (state: State) => boolean;
}

/** Makes the process of a conversation in which several take turns. */
export function createTurnProcess<State extends TurnState<S>, S extends ChatStep, Context>(
  setup: TurnSetup<State, S>,
): StepProcess<State, Context> {
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
    produce: async (state, scope) => {
      const { pendingStep } = state;
      const taken =
        pendingStep === undefined
          ? await beginTurn(setup, state, scope)
          : await takeTurn({ setup, state, scope }, { step: pendingStep.partial, isParked: true });
      // Holds: the steps of these states are of this room's kind.
      return taken as never;
    },
    ...(extension.inspect !== undefined && { inspect: (candidate: State) => extension.inspect?.(candidate) as never }),
    emptyStep: (facts) => emptyStep(facts) as never,
  };
}

const emptyStep = (facts: EmptyStep): ChatStep => ({ ...facts, outputMessages: [], usage: Usage.none() });

/** What a turn is taken with. */
interface Surroundings<State extends TurnState<S>, S extends ChatStep> {
  readonly setup: TurnSetup<State, S>;
  readonly state: State;
  readonly scope: StepScope;
}

async function beginTurn<State extends TurnState<S>, S extends ChatStep>(
  setup: TurnSetup<State, S>,
  state: State,
  scope: StepScope,
): Promise<Produced<ChatStep>> {
  const empty = emptyStep({ id: scope.ids(), errors: [] });
  const chosen = await choose({ setup, state, scope });
  if (!chosen.ok) return { type: 'step', step: { ...empty, ...(scope.interruption === undefined && { errors: [chosen.failure] }) } };
  const { participant, selection } = chosen;
  scope.beginTurn(participant);
  scope.emit((header) => new ParticipantSelected(header, setup.name, selection));
  return takeTurn({ setup, state, scope }, { step: { ...empty, participant, selection }, isParked: false });
}

type Chosen =
  { readonly ok: true; readonly participant: string; readonly selection: Selection } | { readonly ok: false; readonly failure: Failure };

const asChosen = ({ participant, reason, problem }: Choice, by: string): Chosen => ({
  ok: true,
  participant,
  selection: { by, ...(reason !== undefined && { reason }), ...(problem !== undefined && { problem }) },
});

/** Who failed and is to try again. */
function retrying<State extends TurnState<S>, S extends ChatStep>({ lastStepResult }: State): string | undefined {
  const isRetry = lastStepResult?.handling?.decision === 'retry' && lastStepResult.shouldContinue;
  return isRetry ? lastStepResult.step.participant : undefined;
}

async function choose<State extends TurnState<S>, S extends ChatStep>(at: Surroundings<State, S>): Promise<Chosen> {
  const { setup, state } = at;
  const { seats, selector, extension } = setup;
  const isHere = (name: string): boolean => seats.some((seat) => seat.name === name);
  const again = retrying<State, S>(state);
  if (again !== undefined && isHere(again)) return asChosen({ participant: again, reason: 'its last turn failed' }, 'retry');
  try {
    const claimed = extension.claim?.(state);
    if (claimed !== undefined && isHere(claimed.participant)) return asChosen(claimed, claimed.by);
    const choice = await selector.select(factsFor(at));
    if (isHere(choice.participant)) return asChosen(choice, choice.by ?? selector.name);
    const names = seats.map(({ name }) => name).join(', ');
    throw new TurnNotGivenError(
      `The selector "${selector.name}" chose "${choice.participant}", who does not take part. There are: ${names}.`,
    );
  } catch (error) {
    return { ok: false, failure: classifyError(error, { readable: false }) };
  }
}

function factsFor<State extends TurnState<S>, S extends ChatStep>({ setup, state, scope }: Surroundings<State, S>): SelectionFacts {
  const { seats, pricing } = setup;
  const effects = underKey(scope.effects, `select/${scope.stepNumber}`);
  const last = lastSpeaker(state);
  const watchesCost = pricing.watchesCost || scope.watchesCost;
  let asked = 0;
  return {
    state,
    participants: seats.map(infoOf),
    last,
    next: nextAfter(
      last,
      seats.map(({ name }) => name),
    ),
    context: scope.context,
    signal: scope.signal,
    ask: (model, request, { timeoutMs } = {}) => {
      asked += 1;
      const note: StepScope['note'] = (each) => scope.note(each);
      return askModel(model, request, {
        scope: { effects, clock: scope.clock, note },
        key: `model/${asked}`,
        pricing: { price: pricing.price, watchesCost },
        timeoutMs,
      });
    },
    run: (work, options) => effects.run('run', work, options),
  };
}

/** The turn itself, from the beginning or from where it had to wait. Never throws. */
async function takeTurn<State extends TurnState<S>, S extends ChatStep>(
  at: Surroundings<State, S>,
  { step, isParked }: { readonly step: ChatStep; readonly isParked: boolean },
): Promise<Produced<ChatStep>> {
  const { setup, state, scope } = at;
  const { memo: _, ...rest } = step;
  const { extension, seats } = setup;
  const equipment = step.participant === undefined ? undefined : extension.equip?.(state, step.participant);
  const done = (): readonly JsonObject[] => equipment?.acts() ?? [];
  try {
    const seat = seats.find(({ name }) => name === step.participant);
    if (seat === undefined)
      throw new InvalidArgumentError(`The turn of ${step.participant ?? 'somebody'} was begun, but there is no such participant any more.`);
    const spoken = await seat.speak({
      state,
      scope,
      parked: isParked ? step : undefined,
      answers: state.pendingStep?.answers ?? [],
      read: (said) => extension.read(said, { state, participant: seat.name }),
      equipment: equipment?.capability,
    });
    const acts = [...(spoken.type === 'said' ? (spoken.acts ?? []) : []), ...done()];
    return recorded(at, withActs(at, { ...rest, ...(spoken.inner !== undefined && { inner: spoken.inner }) }, acts), spoken);
  } catch (error) {
    // What is thrown because the run was cut off is no failure.
    const errors = scope.interruption === undefined ? [classifyError(error, { readable: false })] : [];
    return { type: 'step', step: { ...withActs(at, rest, done()), errors } };
  }
}

/** The turn with what was done in it. What was done stays done, whatever became of the turn. */
function withActs<State extends TurnState<S>, S extends ChatStep>(
  at: Surroundings<State, S>,
  step: ChatStep,
  acts: readonly JsonObject[],
): ChatStep {
  return acts.length === 0 ? step : (at.setup.extension.withActs?.(step, acts, at) ?? step);
}

/** Tells of people whose words are wanted; what a run inside waits for it has told itself. */
function tellWhoIsAsked<State extends TurnState<S>, S extends ChatStep>(
  { setup, state, scope }: Surroundings<State, S>,
  waits: readonly Wait[],
): void {
  const asked = new Set(state.pendingStep?.waits.map(({ id }) => id));
  for (const wait of waits) {
    if (wait.type !== 'person' || wait.agent !== undefined || asked.has(wait.id)) continue;
    scope.emit((header) => new PersonAsked(header, setup.name, { waitId: `${scope.path}${wait.id}`, prompt: wait.prompt }));
  }
}

/** What came of a turn, as it is kept. */
function recorded<State extends TurnState<S>, S extends ChatStep>(
  at: Surroundings<State, S>,
  step: ChatStep,
  spoken: Spoken,
): Produced<ChatStep> {
  const { setup, scope } = at;
  if (spoken.type === 'waiting') {
    tellWhoIsAsked(at, spoken.waits);
    return { type: 'waiting', partial: { ...step, memo: spoken.memo ?? { round: 1 } }, waits: spoken.waits };
  }
  const { role, parts, errors = [], finishReason, window, isCutOff = false } = spoken;
  const isSaid = errors.length === 0 && !isCutOff;
  const message = new Message({
    id: scope.ids(),
    role,
    parts: parts.length > 0 ? parts : [textPart('')],
    metadata: turnMetadata,
    ...(step.participant !== undefined && { name: step.participant }),
  });
  // Words that no model streams are told in one piece.
  if (isSaid && spoken.inner === undefined && message.text !== '')
    scope.emit((header) => new TextDelta(header, setup.name, message.text), { numbered: false });
  return {
    type: 'step',
    step: {
      ...step,
      outputMessages: isSaid ? [message] : [],
      errors,
      ...(finishReason !== undefined && { finishReason }),
      ...(window !== undefined && { window }),
      ...(isCutOff && { interrupted: scope.ending ?? 'vote' }),
    },
  };
}
