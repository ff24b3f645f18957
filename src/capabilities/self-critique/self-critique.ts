// Self-critique: a second model judges final answers before the run may end with them.
// Owns:     nothing that changes: which round it is stands in the steps of the execution.
// Does not: judge answers to a limit, steps with calls, or steps that failed.
// K1. The critic is asked at most once a step, and decides nothing alone: it votes.
// K2. A critic that fails counts as approval, and that is said.
// K3. An execution begins with round 1; pause and storage leave the round as it is.
import type { AfterStepFacts, Capability, ChangesAt, Vote } from '../../hooks/index.ts';
import { defineAnyCapability } from '../../hooks/index.ts';
import type { Model, ModelOutcome } from '../../inference/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { checkKeys, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { ToolUseState, ToolUseStep } from '../../tool-use/index.ts';
import { defineHook, StepType } from '../../tool-use/index.ts';
import { cutText } from './cut-text.ts';
import { evidenceOf } from './evidence.ts';
import { questionsOf } from './questions.ts';
import type { ReadVerdict, Verdict } from './verdict.ts';
import { readVerdict } from './verdict.ts';
import { criticRequest, critiqueText } from './wording.ts';

/** How answers are judged. */
export interface SelfCritiqueOptions {
  /** The critic. It may be the model that answers; a different one sees more. */
  readonly model: Model;
  /** How often the critic is asked in one execution before an answer that it does not approve ends it. @default 2 */
  readonly maxRounds?: number;
  /** What the critic looks for. @default that the answer is complete, and its facts stand in the evidence */
  readonly instructions?: string;
  /** How many characters the critic reads of what tools were called with and gave; the newest are kept. @default 8000 */
  readonly maxEvidenceLength?: number;
}

/** The options with their defaults. */
interface Settings {
  readonly model: Model;
  readonly maxRounds: number;
  readonly instructions: string | undefined;
  readonly maxEvidenceLength: number;
}

/** A verdict on one answer, and where it was given. */
interface Judged extends Verdict {
  readonly round: number;
  /** Why the critic could not judge; the answer then counts as approved. */
  readonly failed?: string;
}

type Facts = AfterStepFacts<ToolUseState, unknown>;

const name = 'self-critique';
const purpose = 'critique';
const knownOptions: readonly string[] = ['model', 'maxRounds', 'instructions', 'maxEvidenceLength'];

const isModel = (given: unknown): boolean =>
  isRecord(given) && typeof given['generate'] === 'function' && typeof given['stream'] === 'function';
const isWhole = (given: unknown, least: number): boolean => Number.isInteger(given) && (given as number) >= least;
const shown = (given: unknown): string => (typeof given === 'string' ? JSON.stringify(given) : String(given));

function findProblem(options: Readonly<Record<string, unknown>>): string | undefined {
  const { model, maxRounds = 1, instructions = '', maxEvidenceLength = 0 } = options;
  checkKeys('selfCritique()', options, { known: knownOptions });
  if (!isModel(model)) return 'selfCritique() needs a model as its critic: selfCritique({ model }).';
  if (!isWhole(maxRounds, 1)) return `maxRounds of selfCritique() must be a whole number of 1 or more, not ${shown(maxRounds)}.`;
  if (typeof instructions !== 'string') return 'instructions of selfCritique() must be text: what the critic looks for.';
  if (maxEvidenceLength !== Infinity && !isWhole(maxEvidenceLength, 0))
    return `maxEvidenceLength of selfCritique() must be a whole number of 0 or more, or Infinity, not ${shown(maxEvidenceLength)}.`;
  return undefined;
}

function checkedSettings(given: unknown): Settings {
  if (!isRecord(given)) throw new InvalidArgumentError('selfCritique() needs options with a critic: selfCritique({ model }).');
  const problem = findProblem(given);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  // Holds: they were just checked.
  const { model, maxRounds = 2, instructions = '', maxEvidenceLength = 8000 } = given as unknown as SelfCritiqueOptions;
  return { model, maxRounds, instructions: instructions.trim() === '' ? undefined : instructions, maxEvidenceLength };
}

/** The answer to judge; undefined where the step is none. */
function answerOf({ stepType, errors, interrupted, finalizing, outputMessages }: ToolUseStep): string | undefined {
  if (stepType !== StepType.FinalResponse || errors.length > 0 || interrupted !== undefined || finalizing === true) return undefined;
  return outputMessages.findLast(
    (message) => message.isAssistant() && message.text.trim() !== '' && message.metadata['purpose'] === undefined,
  )?.text;
}

const isCritique = ({ metadata }: Message): boolean => metadata['purpose'] === purpose;

/** Counts from 1: each critique that was given in this execution has used up a round. */
const roundOf = ({ stepResults }: ToolUseState): number =>
  1 + stepResults.flatMap(({ step }) => step.outputMessages).filter(isCritique).length;

function heard(outcome: ModelOutcome): ReadVerdict {
  if (!outcome.ok) return { ok: false, problem: outcome.failure.message };
  return readVerdict(outcome.response.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''));
}

const noVerdict = { approved: true, summary: '', strengths: [], weaknesses: [], suggestions: [] } as const;

async function judge({ state, ask }: Facts, answer: string, settings: Settings): Promise<Judged> {
  const { model, instructions, maxEvidenceLength } = settings;
  const material = { question: questionsOf(state), evidence: evidenceOf(state.steps, maxEvidenceLength), answer };
  const round = roundOf(state);
  const read = heard(await ask(model, criticRequest(material, instructions)));
  return read.ok ? { ...read.verdict, round } : { ...noVerdict, round, failed: read.problem };
}

// Reasons stand in one line of an explanation.
const inOneLine = (text: string): string => cutText(text.replace(/\s+/g, ' ').trim(), 300);

function inWords({ round, approved, summary, weaknesses, failed }: Judged, maxRounds: number): string {
  const which = `round ${round} of ${maxRounds}`;
  if (failed !== undefined) return inOneLine(`the critic failed in ${which}, which counts as approval: ${failed}`);
  const verdict = approved ? 'approved' : 'did not approve';
  const last = !approved && round >= maxRounds ? ', which was the last one' : '';
  const why = summary === '' && !approved ? (weaknesses[0] ?? '') : summary;
  return inOneLine(`the critic ${verdict} the answer in ${which}${last}${why === '' ? '' : `: ${why}`}`);
}

function voteOf(judged: Judged, maxRounds: number): Vote {
  const { round, approved, failed } = judged;
  const reason = inWords(judged, maxRounds);
  const context = { round, maxRounds, approved, ...(failed !== undefined && { failed: true }) };
  if (approved) return { decision: 'stop', reason, context };
  return round < maxRounds ? { decision: 'request', reason, context } : { decision: 'forbid', stopReason: 'retry_limit', reason, context };
}

function recordOf({ round, approved, summary, weaknesses, suggestions, failed }: Judged, executionId: string): JsonObject {
  return { executionId, round, approved, summary, weaknesses, suggestions, ...(failed !== undefined && { failed }) };
}

type Changes = Partial<Pick<ChangesAt['after_step'], 'output' | 'votes' | 'metadata'>>;

async function critique(facts: Facts, answer: string, settings: Settings): Promise<Changes> {
  const { step, ids, executionId, report } = facts;
  const { maxRounds } = settings;
  const judged = await judge(facts, answer, settings);
  const votes = voteOf(judged, maxRounds);
  const record = recordOf(judged, executionId);
  report(votes.reason, { ...record, maxRounds, strengths: judged.strengths });
  const kept = { votes, metadata: { self_critique: record } };
  if (votes.decision !== 'request') return kept;
  return { ...kept, output: [...step.outputMessages, Message.user(critiqueText(judged), { ids, metadata: { purpose } })] };
}

/**
 * Lets a critic judge each final answer, with what tools gave as evidence. An answer that it does not approve goes back to the model
 * with what is wrong; after `maxRounds` of that the run stops with `retry_limit`. The last verdict is kept in the state's metadata
 * under `self_critique`.
 */
export function selfCritique(options: SelfCritiqueOptions): Capability<readonly [], ToolUseState, unknown> {
  const settings = checkedSettings(options);
  const hook = defineHook({
    name,
    changes: ['output', 'votes', 'metadata'],
    // The limits of the run bound it, and the time-outs of the critic's own model.
    timeoutMs: Infinity,
    afterStep: (facts) => {
      const answer = answerOf(facts.step);
      return answer === undefined ? undefined : critique(facts, answer, settings);
    },
  });
  return defineAnyCapability({ name, description: 'A critic judges final answers, and has them revised.', hooks: [hook] });
}
