// A turn that is a run of its own: of a model with its tools, or of an agent.
// Owns:     the way of the conversation into that run, and of its words back.
// R1. One budget: what is spent inside counts outside at once, and what ends the outer run ends the inner one.
// R2. Whoever is asked inside is asked at the top, under an id that leads back.
// R3. Others read the words alone: calls, results and thoughts stay inside the turn.
// R4. Calls of a turn that did not come to its end are read by who takes it again: nothing is done twice because it was forgotten.
import type { Failure } from '../errors/index.ts';
import { classifyError, TimedOutError } from '../errors/index.ts';
import type { PriceOf } from '../inference/index.ts';
import { EmptyResponseError } from '../inference/index.ts';
import type { IdSource, Json } from '../lib/index.ts';
import { assertNever } from '../lib/index.ts';
import type { Part } from '../messages/index.ts';
import { Usage } from '../messages/index.ts';
import type { Answer, Wait } from '../step-by-step/index.ts';
import { getEndFailure } from '../step-by-step/index.ts';
import type { ToolUseOrchestrator, ToolUseState } from '../tool-use/index.ts';
import { toInnerRun, getUnfinished } from './inner-record.ts';
import type { Spoken, Turn } from './participant.ts';
import type { ParticipantKind } from './participant-kind.ts';
import { TurnIncompleteError } from './turn-incomplete-error.ts';
import { toView, getChangedWindow } from './view.ts';

/** Starts the run inside a turn with the conversation as its participant reads it. */
function toStart(
  { state, scope }: Turn,
  { states }: ToolUseOrchestrator,
  at: { readonly name: string; readonly ids: IdSource },
): ToolUseState {
  const store = toView(state, at.name, at.ids());
  return states.empty({ ids: at.ids, clock: scope.time.clock, parentAgentId: state.agentId }).evolve({ store });
}

function withAnswers(restored: ToolUseState, answers: readonly Answer[], path: string): ToolUseState {
  return answers.reduce((state, answer) => {
    const id = answer.id.slice(path.length);
    switch (answer.type) {
      case 'approved':
        return state.approve(id, answer.args === undefined ? {} : { args: answer.args });
      case 'rejected':
        return state.reject(id, answer.reason);
      case 'answered':
        return state.answer(id, answer.value);
      default:
        return assertNever(answer);
    }
  }, restored);
}

// A limit inside that could be raised ends the turn: whoever is outside raises the limits outside.
function withoutGrants(state: ToolUseState): ToolUseState {
  const awaited = state.waitingFor.find(({ type }) => type === 'grant');
  return awaited === undefined ? state : state.reject(awaited.id, 'nobody raises the limits of a run inside a turn');
}

const askedBy =
  (name: string) =>
  (wait: Wait): Wait => ({ ...wait, id: `${name}/${wait.id}`, agent: wait.agent === undefined ? name : `${name}/${wait.agent}` });

const isForOthers = ({ type }: Part): boolean => type === 'text' || type === 'image' || type === 'file' || type === 'source';
const isSomething = (part: Part): boolean => part.type !== 'text' || part.text.trim() !== '';

/** What the others read of a turn: the last words, with what was shown beside them. */
function getParts(end: ToolUseState): readonly Part[] {
  const said = end.steps
    .flatMap(({ outputMessages }) => outputMessages)
    .filter((message) => message.isAssistant() && message.metadata['purpose'] === undefined)
    .map(({ parts }) => parts.filter(isForOthers).map(withoutProvider))
    .findLast((parts) => parts.some(isSomething));
  return said ?? [];
}

// What a provider attached to words is good for the run that they were said in.
function withoutProvider(part: Part): Part {
  const { providerMetadata: _, ...plain } = part;
  return plain;
}

const getText = (parts: readonly Part[]): string => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** Why a turn failed; none where it did not. */
function getErrors(end: ToolUseState, name: string, hasWords: boolean): readonly Failure[] {
  const { status, errors, startOutcome, stopReason } = end;
  if (status === 'failed') {
    const own = startOutcome === undefined && errors.length > 0 ? errors : [getEndFailure(end)];
    return own.map(({ toolCallId: _, ...failure }) => ({ ...failure, readable: false }));
  }
  const why = describeLimit(end);
  // Words before a call that a limit of its own left unread are no answer.
  if (hasWords && (why === undefined || !hasWorkLeft(end))) return [];
  if (why === undefined) return [classifyError(new EmptyResponseError(`${name} said nothing.`), { readable: false })];
  const message = `The turn of ${name} ended before it had an answer: ${why}.`;
  const error = stopReason === 'time_limit' ? new TimedOutError(message) : new TurnIncompleteError(message);
  return [classifyError(error, { readable: false })];
}

/** Which rule of its own ended a run before it came to its end, with its numbers; undefined where it came to it. */
function describeLimit({ stopReason, continuationOutcome }: ToolUseState): string | undefined {
  if (stopReason === undefined || stopReason === 'completed') return undefined;
  const { evaluations = [], resolvedBy = 'nobody' } = continuationOutcome ?? {};
  const forbidding = evaluations.find(({ criterion }) => criterion === resolvedBy);
  return `${stopReason} by its own ${resolvedBy}${forbidding === undefined ? '' : ` (${forbidding.reason.replace(/\.$/, '')})`}`;
}

/** True where the last thing it did was to call tools whose results it has not read, or to begin an answer of which nothing came. */
function hasWorkLeft({ currentStep }: ToolUseState): boolean {
  if (currentStep === undefined || currentStep.hasToolCalls === true) return currentStep !== undefined;
  return currentStep.interrupted !== undefined && currentStep.outputMessages.every(({ text }) => text === '');
}

/** Who speaks by a run of its own. */
export interface Speaking {
  readonly name: string;
  readonly kind: ParticipantKind;
  readonly context: unknown;
  readonly watchesCost: boolean;
  /** What usage costs, for one who does not know it. */
  readonly price: PriceOf | undefined;
}

/** Takes a turn by a run inside it, or goes on with that run. */
export async function speakByRun(
  turn: Turn,
  orchestrator: ToolUseOrchestrator,
  { name, kind, context, watchesCost, price }: Speaking,
): Promise<Spoken> {
  const { scope, parked, answers } = turn;
  const round = (parked?.memo?.round ?? 0) + 1;
  const prefix = `${scope.executionId}/${scope.stepNumber}/${name}/${round}`;
  let drawn = 0;
  // The same names at every attempt.
  const ids: IdSource = () => `${prefix}/${(drawn += 1)}`;
  const path = `${name}/`;
  const inside = scope.nesting.open(`turn/${scope.stepNumber}/${name}/${round}`, {
    own: { usage: Usage.none() },
    ids,
    path,
    watchesCost,
    price,
  });
  const stored = parked?.memo?.state;
  const start =
    stored === undefined ? toStart(turn, orchestrator, { name, ids }) : withAnswers(orchestrator.restore(stored), answers, path);
  const end = withoutGrants(await orchestrator.run(start, { context, inside }));
  const record = toInnerRun(orchestrator.name, end);
  if (end.waitingFor.length > 0)
    return { type: 'waiting', waits: end.waitingFor.map(askedBy(name)), memo: { round, kind, state: end.toJSON() as Json }, inner: record };
  const isEnding = scope.control.ending !== undefined || inside.budget.evaluateLimits({ usage: Usage.none() }).length > 0;
  // Words before a call that was not followed up, because the run around this one has to end, are no answer.
  const parts = isEnding && scope.control.interruption === undefined && hasWorkLeft(end) ? [] : getParts(end);
  const isCutOff = isEnding && parts.length === 0 && end.status !== 'failed';
  const errors = isEnding && end.status !== 'failed' ? [] : getErrors(end, name, parts.length > 0);
  return {
    type: 'said',
    role: 'assistant',
    parts,
    errors,
    finishReason: end.currentStep?.finishReason,
    isCutOff,
    inner: record,
    window: getChangedWindow(turn.state, name, { store: end.store, made: end.steps.flatMap(({ outputMessages }) => outputMessages) }),
    unfinished: getUnfinished(end.steps, turn.state.messages.length, errors.length === 0 ? getText(parts) : ''),
  };
}
