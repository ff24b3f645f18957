// Participants whose turn is a run of its own: agents, and models with tools.
// Owns:     the way of the conversation into that run, and of its words back.
// R1. One budget: what is spent inside counts outside at once, and what ends the outer run ends the inner one.
// R2. Waits inside are waits at the top, under an id that leads back.
// R3. Others read the words alone: calls, results and reasoning stay inside the turn.
// R4. A participant that repeats an unfinished turn reads the calls already made in it, so that it repeats none by mistake.
import type { Failure } from '../../errors/index.ts';
import { classifyError, TimedOutError } from '../../errors/index.ts';
import type { Capability } from '../../hooks/index.ts';
import { EmptyResponseError } from '../../inference/index.ts';
import type { Callback, IdSource } from '../../lib/index.ts';
import { escapePart, readJson } from '../../lib/index.ts';
import type { Part } from '../../messages/index.ts';
import { Usage } from '../../messages/index.ts';
import { getEndFailure } from '../../step-by-step/index.ts';
import type { ToolUseOrchestrator, ToolUseState } from '../../tool-use/index.ts';
import { withAnswers, withAsker, withoutGrants } from '../../tool-use/index.ts';
import { TurnIncompleteError } from '../turn-incomplete-error.ts';
import { getUnfinished, toInnerRun } from '../inner-record.ts';
import type { ConversationInfo, Participant, ParticipantOptions, Turn, TurnResult } from '../participant.ts';
import { createParticipant } from '../participant.ts';
import type { ParticipantKind } from '../participant-kind.ts';
import { getChangedWindow, toView } from '../view.ts';

/** Parts of a participant whose turns are runs. */
interface RunParts {
  /** Creates the orchestrator, with the equipment of a turn if there is any. */
  readonly create: (equipment: Capability | undefined, conversation: ConversationInfo) => ToolUseOrchestrator;
  /** Maps the context of the conversation. @default the same context */
  readonly toContext?: Callback<[outer: unknown], unknown> | undefined;
  /** True if costs are to be known even if the conversation does not ask for them. */
  readonly watchesCost?: boolean;
  readonly configuration: (own: ToolUseOrchestrator) => { readonly agent?: string };
}

/** Creates a participant whose turns are runs. */
export function createRunParticipant(
  kind: ParticipantKind,
  options: ParticipantOptions,
  { create, toContext, configuration, watchesCost = false }: RunParts,
): Participant {
  const { name } = options;
  return createParticipant(kind, options, (conversation) => {
    const own = create(conversation.sample(name), conversation);
    return {
      needsContext: own.needsContext && toContext === undefined,
      configuration: { ...configuration(own), fingerprint: own.fingerprint },
      toolNames: own.toolNames,
      checkArgs: (toolName, args, inside) => own.checkArgs(toolName, args, inside),
      speak: (turn) => {
        const { context } = turn.scope;
        return runTurn(turn, turn.equipment === undefined ? own : create(turn.equipment, conversation), {
          name,
          kind,
          price: conversation.price,
          watchesCost: conversation.watchesCost || watchesCost,
          context: toContext === undefined ? context : toContext(context),
        });
      },
    };
  });
}

const isForOthers = ({ type }: Part): boolean => type === 'text' || type === 'image' || type === 'file' || type === 'source';
const isSomething = (part: Part): boolean => part.type !== 'text' || part.text.trim() !== '';

/** Returns the parts that others read of a turn: the last words, with what was shown beside them. */
function getParts(end: ToolUseState): readonly Part[] {
  const said = end.steps
    .flatMap(({ outputMessages }) => outputMessages)
    .filter((message) => message.isAssistant() && message.metadata['purpose'] === undefined)
    .map(({ parts }) => parts.filter(isForOthers).map(withoutProvider))
    .findLast((parts) => parts.some(isSomething));
  return said ?? [];
}

// Metadata of a provider is good only for the run in which it came.
function withoutProvider(part: Part): Part {
  const { providerMetadata: _, ...plain } = part;
  return plain;
}

const getText = (parts: readonly Part[]): string => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** Lists the failures of a turn. */
function getErrors(end: ToolUseState, name: string, hasWords: boolean): readonly Failure[] {
  const { status, errors, startOutcome, stopReason } = end;
  if (status === 'failed') {
    const own = startOutcome === undefined && errors.length > 0 ? errors : [getEndFailure(end)];
    return own.map(({ toolCallId: _, ...failure }) => ({ ...failure, readable: false }));
  }
  const why = describeLimit(end);
  // Words before a call that a limit of its own left unread are not an answer.
  if (hasWords && (why === undefined || !hasWorkLeft(end))) return [];
  if (why === undefined) return [classifyError(new EmptyResponseError(`${name} returned an empty answer.`), { readable: false })];
  const message = `The turn of ${name} ended without an answer: ${why}.`;
  const error = stopReason === 'time_limit' ? new TimedOutError(message) : new TurnIncompleteError(message);
  return [classifyError(error, { readable: false })];
}

/** Describes the criterion that stopped a run early, with its numbers; undefined if it completed. */
function describeLimit({ stopReason, lastContinuationOutcome }: ToolUseState): string | undefined {
  if (stopReason === undefined || stopReason === 'completed') return undefined;
  const { evaluations = [], resolvedBy = 'nobody' } = lastContinuationOutcome ?? {};
  const forbidding = evaluations.find(({ criterion }) => criterion === resolvedBy);
  return `${stopReason} by its own ${resolvedBy}${forbidding === undefined ? '' : ` (${forbidding.reason.replace(/\.$/, '')})`}`;
}

/** True if the run ended with calls whose results it has not read, or with an answer of which nothing came. */
function hasWorkLeft({ currentStep }: ToolUseState): boolean {
  if (currentStep === undefined || currentStep.hasToolCalls === true) return currentStep !== undefined;
  return currentStep.interrupted !== undefined && currentStep.outputMessages.every(({ text }) => text === '');
}

/** A participant that speaks by a run of its own. */
interface RunSpeaker extends Pick<ConversationInfo, 'price' | 'watchesCost'> {
  readonly name: string;
  readonly kind: ParticipantKind;
  readonly context: unknown;
}

/** Takes a turn by a run inside it, or resumes that run. */
async function runTurn(turn: Turn, orchestrator: ToolUseOrchestrator, speaker: RunSpeaker): Promise<TurnResult> {
  const { name, kind, context, watchesCost, price } = speaker;
  const { state, scope, parked, answers } = turn;
  const round = (parked?.memo?.round ?? 0) + 1;
  const prefix = `${scope.executionId}/${scope.stepNumber}/${escapePart(name)}/${round}`;
  let drawn = 0;
  // The same ids at every attempt.
  const ids: IdSource = () => `${prefix}/${(drawn += 1)}`;
  const path = `${name}/`;
  const own = { usage: Usage.none() };
  const createStart = (): ToolUseState => {
    const store = toView(state, name, ids());
    return orchestrator.states.empty({ ids, clock: scope.time.clock, parentAgentId: state.agentId }).evolve({ store });
  };
  const stored = parked?.memo?.state;
  const innerAnswers = answers.map((answer) => ({ ...answer, id: answer.id.slice(path.length) }));
  const start = stored === undefined ? createStart() : withAnswers(orchestrator.restore(stored), innerAnswers);
  const view = stored === undefined ? { participant: name, messages: start.messagesForInference } : undefined;
  const inside = scope.nesting.openInside(`turn/${scope.stepNumber}/${name}/${round}`, { own, ids, path, watchesCost, price, view });
  const end = withoutGrants(await orchestrator.run(start, { context, inside }));
  const inner = toInnerRun(orchestrator.name, end);
  if (end.waitingFor.length > 0) {
    const waits = end.waitingFor.map((wait) => withAsker({ ...wait, id: `${path}${wait.id}` }, name));
    return { type: 'waiting', waits, memo: { round, kind, state: readJson(end.toJSON(), '') }, inner };
  }
  const isEnding = scope.control.ending !== undefined || inside.budget.evaluateLimits({ usage: Usage.none() }).length > 0;
  // Words before a call that was not followed up, because the outer run has to end, are not an answer.
  const parts = isEnding && scope.control.interruption === undefined && hasWorkLeft(end) ? [] : getParts(end);
  const errors = isEnding && end.status !== 'failed' ? [] : getErrors(end, name, parts.length > 0);
  return {
    type: 'said',
    role: 'assistant',
    parts,
    errors,
    finishReason: end.currentStep?.finishReason,
    wasInterrupted: isEnding && parts.length === 0 && end.status !== 'failed',
    inner,
    window: getChangedWindow(state, name, { store: end.store, made: end.steps.flatMap(({ outputMessages }) => outputMessages) }),
    unfinished: getUnfinished(end.steps, state.messages.length, errors.length === 0 ? getText(parts) : ''),
  };
}
