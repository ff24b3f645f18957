// Whose turn it is.
// Owns:     the order of the rules: the participant of an unfinished turn, then one with a claim to the turn, then the selector's choice.
// Does not: fall back by itself: a selector that names nobody who takes part makes a failed turn of nobody.
import { withKeyPrefix } from '../effects/index.ts';
import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import { reportSafely } from '../events/index.ts';
import { askModel } from '../hooks/index.ts';
import { omitUndefined } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import type { StepScope } from '../step-by-step/index.ts';
import type { Selection } from './chat-step.ts';
import { TurnNotGivenError } from './turn-not-given-error.ts';
import { toParticipantInfo } from './participant.ts';
import { getNextAfter } from './selectors/round-robin.ts';
import type { NextSpeaker, SelectionFacts } from './selectors/selector.ts';
import type { OpenTurn } from './turn-setup.ts';
import type { TurnState } from './turn-state.ts';
import { getLastInput, getLastSpeaker, wasTaken } from './turn-state.ts';

/** The speaker; the end of the conversation; or the reason why nobody could be found. */
export type SpeakerChoice =
  | { readonly type: 'participant'; readonly participant: string; readonly selection: Selection }
  | { readonly type: 'end'; readonly selection: Selection; readonly reason: string }
  | { readonly type: 'failed'; readonly failure: Failure };

const toSpeakerChoice = ({ participant, reason, problem }: NextSpeaker, by: string, usage?: Usage): SpeakerChoice => ({
  type: 'participant',
  participant,
  selection: omitUndefined({ by, reason, problem, usage }),
});

/** Finds the participant whose last turn did not complete, also if a limit stopped the run and more was granted since. */
function findUnfinished({ lastStepResult }: TurnState): NextSpeaker | undefined {
  const { participant, interrupted } = lastStepResult?.step ?? {};
  if (participant === undefined) return undefined;
  if (lastStepResult?.handling?.decision === 'retry') return { participant, reason: 'its last turn failed' };
  return interrupted === undefined || interrupted === 'superseded' ? undefined : { participant, reason: 'its last turn was interrupted' };
}

/** Chooses whose turn it is. Never throws. */
export async function chooseSpeaker(at: OpenTurn): Promise<SpeakerChoice> {
  const { setup, state } = at;
  const { joined, selector, extension } = setup;
  const isHere = (name: string): boolean => joined.some((each) => each.name === name);
  const again = findUnfinished(state);
  if (again !== undefined && isHere(again.participant)) return toSpeakerChoice(again, 'retry');
  try {
    const claimed = extension.claim?.(state);
    if (claimed !== undefined && isHere(claimed.participant)) return toSpeakerChoice(claimed, claimed.by);
    const spent = { usage: Usage.none() };
    const choice = await selector.select(createFacts(at, spent));
    const by = choice.by ?? selector.name;
    const usage = Usage.isNone(spent.usage) ? undefined : spent.usage;
    if ('end' in choice) {
      const { end: reason, problem } = choice;
      return { type: 'end', selection: omitUndefined({ by, reason, problem, usage }), reason };
    }
    if (isHere(choice.participant)) return toSpeakerChoice(choice, by, usage);
    const names = joined.map(({ name }) => name).join(', ');
    throw new TurnNotGivenError(`The selector "${by}" returned "${choice.participant}", who is not a participant. Return one of ${names}.`);
  } catch (error) {
    return { type: 'failed', failure: classifyError(error, { readable: false }) };
  }
}

/**
 * Finds who is next in the round. If some keep calling each other, nobody has two turns more since the last input than the one who
 * had the fewest: the round leaves nobody out.
 */
function findNextInRound(state: TurnState, names: readonly string[]): string {
  const input = getLastInput(state);
  const taken = state.stepResults.filter((result) => result.step.input === input && wasTaken(result));
  const turns = (name: string): number => taken.filter(({ step }) => step.participant === name).length;
  const last = getLastSpeaker(state, (name) => names.includes(name));
  const next = getNextAfter(last, names);
  const fewest = Math.min(...names.map(turns));
  if (turns(next) < fewest + 2) return next;
  const first = names.indexOf(next);
  const round = names.map((name, index) => names[(first + index) % names.length] ?? name);
  // Nobody has to catch up alone.
  return round.find((name) => turns(name) === fewest && name !== last) ?? next;
}

function createFacts({ setup, state, scope }: OpenTurn, spent: { usage: Usage }): SelectionFacts {
  const { joined, pricing, selector } = setup;
  const effects = withKeyPrefix(scope.effects, `select/${scope.stepNumber}`);
  const names = joined.map(({ name }) => name);
  const watchesCost = pricing.watchesCost || scope.budget.watchesCost;
  let [asked, run] = [0, 0];
  return {
    state,
    participants: joined.map(toParticipantInfo),
    last: getLastSpeaker(state),
    next: findNextInRound(state, names),
    context: scope.context,
    signal: scope.control.signal,
    ask: (model, request, { timeoutMs, label } = {}) => {
      asked += 1;
      const add: StepScope['notes']['add'] = (note) => {
        if (note.usage !== undefined) spent.usage = Usage.add(spent.usage, note.usage);
        scope.notes.add(note);
      };
      return askModel(model, request, {
        scope: { effects, time: scope.time, models: scope.models, notes: { add } },
        key: `model/${asked}`,
        pricing: { price: pricing.price, watchesCost },
        timeoutMs,
        label,
      });
    },
    run: (work, options) => effects.run(`run/${(run += 1)}`, work, options),
    report: (error) => reportSafely(scope.onProblem, error, `the selector "${selector.name}"`),
  };
}
