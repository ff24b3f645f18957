// A turn that is a run of its own: of a model with its tools, or of an agent.
// Owns:     the way of the conversation into that run, and of its words back.
// R1. One budget: what is spent inside counts outside at once, and what ends the outer run ends the inner one.
// R2. Whoever is asked inside is asked at the top, under an id that leads back.
// R3. Others read the words alone: calls, results and thoughts stay inside the turn.
import { ContinuationDecision } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { classifyError, TimedOutError } from '../errors/index.ts';
import { EmptyResponseError } from '../inference/index.ts';
import type { IdSource, Json } from '../lib/index.ts';
import { assertNever } from '../lib/index.ts';
import type { Part } from '../messages/index.ts';
import { Usage } from '../messages/index.ts';
import type { Answer, NewStateOptions, OuterStep, StepScope, Wait } from '../step-by-step/index.ts';
import type { ToolUseState } from '../tool-use/index.ts';
import type { InnerRun } from './chat-step.ts';
import type { Spoken, Turn } from './participant.ts';
import { viewOf, windowAfter } from './view.ts';

/** What is run inside a turn. */
export interface Inner<State extends ToolUseState> {
  readonly orchestrator: string;
  empty(options: NewStateOptions): State;
  restore(stored: Json): State;
  run(state: State, options: { readonly context: unknown; readonly inside: OuterStep }): Promise<State>;
}

function begun<State extends ToolUseState>(turn: Turn, inner: Inner<State>, at: { readonly name: string; readonly ids: IdSource }): State {
  const { state, scope } = turn;
  const store = viewOf(state, at.name, at.ids());
  return inner.empty({ ids: at.ids, clock: scope.clock, parentAgentId: state.agentId }).evolve({ store });
}

function answered<State extends ToolUseState>(restored: State, answers: readonly Answer[], path: string): State {
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
function withoutGrants<State extends ToolUseState>(state: State): State {
  const awaited = state.waitingFor.find(({ type }) => type === 'grant');
  return awaited === undefined ? state : state.reject(awaited.id, 'nobody raises the limits of a run inside a turn');
}

const askedBy =
  (name: string) =>
  (wait: Wait): Wait => ({ ...wait, id: `${name}/${wait.id}`, agent: wait.agent === undefined ? name : `${name}/${wait.agent}` });

/** What became of the run inside, for the record. */
function recordOf({ orchestrator }: { readonly orchestrator: string }, end: ToolUseState): InnerRun {
  const { agentId, status, stopReason, continuationOutcome: outcome, stepCount } = end;
  const calls = end.steps.flatMap(({ executions }) =>
    executions.map(({ toolName, status: became }) => ({ tool: toolName, status: became })),
  );
  return {
    orchestrator,
    agentId,
    status,
    stepCount,
    ...(stopReason !== undefined && { stopReason }),
    ...(outcome !== undefined && { outcome }),
    ...(calls.length > 0 && { calls }),
  };
}

const isForOthers = ({ type }: Part): boolean => type === 'text' || type === 'image' || type === 'file' || type === 'source';
const isSomething = (part: Part): boolean => part.type !== 'text' || part.text.trim() !== '';

/** What the others read of a turn: the last words, with what was shown beside them. */
function partsOf(end: ToolUseState): readonly Part[] {
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

const isOuter = (criterion: string): boolean => criterion.startsWith('Outer');

/** True where the run inside ended because the one around it has to. */
function endedFromOutside({ continuationOutcome }: ToolUseState, scope: StepScope): boolean {
  const forbidding = continuationOutcome?.evaluations.filter(({ decision }) => decision === ContinuationDecision.ForbidContinuation) ?? [];
  const isStopped = forbidding.some(({ criterion }) => isOuter(criterion) || criterion === 'StopRequested');
  return isStopped || scope.ending !== undefined;
}

/** Why a turn failed; none where it did not. */
function errorsOf(
  end: ToolUseState,
  { name, scope, hasWords }: { readonly name: string; readonly scope: StepScope; readonly hasWords: boolean },
): readonly Failure[] {
  const { status, errors, continuationOutcome, startOutcome, stopReason } = end;
  if (status === 'failed') {
    // A start that failed has no step to keep its failure on; who forbade says what happened.
    const own = startOutcome === undefined ? errors : [];
    if (own.length > 0) return own.map(({ toolCallId: _, ...failure }) => ({ ...failure, readable: false }));
    const forbidding = continuationOutcome?.evaluations.find(({ decision }) => decision === ContinuationDecision.ForbidContinuation);
    const code = forbidding?.context['code'];
    const message = `The turn of ${name} could not be taken: ${forbidding?.reason ?? 'no reason was given'}`;
    return [{ type: 'unknown', code: typeof code === 'string' ? code : 'turn-failed', message, retryable: false, readable: false }];
  }
  if (hasWords || endedFromOutside(end, scope)) return [];
  const why =
    stopReason === undefined || stopReason === 'completed'
      ? ''
      : ` Its turn ended with ${stopReason}, by ${continuationOutcome?.resolvedBy ?? 'nobody'}.`;
  const message = `${name} said nothing.${why}`;
  const error = stopReason === 'time_limit' ? new TimedOutError(message) : new EmptyResponseError(message);
  return [classifyError(error, { readable: false })];
}

/** Takes a turn by a run inside it, or goes on with that run. */
export async function speakByRun<State extends ToolUseState>(
  turn: Turn,
  inner: Inner<State>,
  { name, context, watchesCost }: { readonly name: string; readonly context: unknown; readonly watchesCost: boolean },
): Promise<Spoken> {
  const { scope, parked, answers } = turn;
  const round = (parked?.memo?.round ?? 0) + 1;
  const prefix = `${scope.executionId}/${scope.stepNumber}/${name}/${round}`;
  let drawn = 0;
  // The same names at every attempt.
  const ids: IdSource = () => `${prefix}/${(drawn += 1)}`;
  const path = `${name}/`;
  const inside = scope.nest(`turn/${scope.stepNumber}/${name}/${round}`, { own: { usage: Usage.none() }, ids, path, watchesCost });
  const stored = parked?.memo?.state;
  const start = stored === undefined ? begun(turn, inner, { name, ids }) : answered(inner.restore(stored), answers, path);
  const end = withoutGrants(await inner.run(start, { context, inside }));
  const record = recordOf(inner, end);
  if (end.waitingFor.length > 0)
    return { type: 'waiting', waits: end.waitingFor.map(askedBy(name)), memo: { round, state: end.toJSON() as Json }, inner: record };
  const parts = partsOf(end);
  const errors = errorsOf(end, { name, scope, hasWords: parts.length > 0 });
  return {
    type: 'said',
    role: 'assistant',
    parts,
    errors,
    finishReason: end.currentStep?.finishReason,
    isCutOff: parts.length === 0 && errors.length === 0,
    inner: record,
    window: windowAfter(turn.state, name, end.store),
  };
}
