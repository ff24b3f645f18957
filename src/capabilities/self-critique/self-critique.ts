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
import { omitUndefined, present } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { ToolUseState, ToolUseStep } from '../../tool-use/index.ts';
import { checkOptions, defineHook, optionRule, StepType } from '../../tool-use/index.ts';
import { collectEvidence, collectQuestions, cutText } from './material.ts';
import type { ReadVerdict, Verdict } from './verdict.ts';
import { createCriticRequest, readVerdict, writeCritique } from './verdict.ts';

/** Options of self-critique. */
export interface SelfCritiqueOptions {
  /** The critic. It may be the model that answers; a different one sees more. */
  readonly model: Model;
  /** Number of times the critic is asked in one execution before an answer that it does not approve ends it. @default 2 */
  readonly maxRounds?: number;
  /** Advice for the critic. @default to check that the answer is complete, and its facts are in the evidence */
  readonly instructions?: string;
  /** Number of characters that the critic reads of calls and results; the newest are kept. @default 8000 */
  readonly maxEvidenceLength?: number;
}

/** The options with their defaults. */
type Settings = Required<SelfCritiqueOptions>;

/** A verdict on one answer, and its round. */
interface JudgedAnswer extends Verdict {
  readonly round: number;
  /** Reason why the critic could not judge; the answer then counts as approved. */
  readonly failed?: string;
}

type Facts = AfterStepFacts<ToolUseState, unknown>;

const name = 'self-critique';
const purpose = 'critique';
const rules = {
  model: optionRule.model,
  maxRounds: optionRule.count,
  instructions: optionRule.text,
  maxEvidenceLength: [
    (value: unknown) => value === Infinity || (Number.isInteger(value) && Number(value) >= 0),
    'a whole number of 0 or more, or Infinity',
  ],
} as const;

/** Returns the answer to judge; undefined if the step is not one. */
function getAnswer({ stepType, errors, interrupted, finalizing, outputMessages }: ToolUseStep): string | undefined {
  if (stepType !== StepType.FinalResponse || errors.length > 0 || interrupted !== undefined || finalizing === true) return undefined;
  return outputMessages.findLast(
    (message) => message.isAssistant() && message.text.trim() !== '' && message.metadata['purpose'] === undefined,
  )?.text;
}

const isCritique = ({ metadata }: Message): boolean => metadata['purpose'] === purpose;

/** Counts rounds from 1: each critique in this execution has used up one. */
const getRound = ({ stepResults }: ToolUseState): number =>
  1 + stepResults.flatMap(({ step }) => step.outputMessages).filter(isCritique).length;

function readOutcome(outcome: ModelOutcome): ReadVerdict {
  if (!outcome.ok) return { ok: false, problem: outcome.failure.message };
  return readVerdict(outcome.response.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''));
}

const noVerdict = { approved: true, summary: '', strengths: [], weaknesses: [], suggestions: [] } as const;

async function judge({ state, ask }: Facts, answer: string, settings: Settings): Promise<JudgedAnswer> {
  const { model, instructions, maxEvidenceLength } = settings;
  const material = { question: collectQuestions(state), evidence: collectEvidence(state.steps, maxEvidenceLength), answer };
  const round = getRound(state);
  const read = readOutcome(await ask(model, createCriticRequest(material, instructions)));
  return read.ok ? { ...read.verdict, round } : { ...noVerdict, round, failed: read.problem };
}

// A reason is one line of an explanation.
const toOneLine = (text: string): string => cutText(text.replace(/\s+/g, ' ').trim(), 300);

function describeVerdict({ round, approved, summary, weaknesses, failed }: JudgedAnswer, maxRounds: number): string {
  const which = `round ${round} of ${maxRounds}`;
  if (failed !== undefined) return toOneLine(`the critic failed in ${which}, which counts as approval: ${failed}`);
  const verdict = approved ? 'approved' : 'did not approve';
  const last = !approved && round >= maxRounds ? ', which was the last one' : '';
  const why = summary === '' && !approved ? (weaknesses[0] ?? '') : summary;
  return toOneLine(`the critic ${verdict} the answer in ${which}${last}${why === '' ? '' : `: ${why}`}`);
}

function toVote(judged: JudgedAnswer, maxRounds: number): Vote {
  const { round, approved, failed } = judged;
  const reason = describeVerdict(judged, maxRounds);
  const context = { round, maxRounds, approved, ...(failed !== undefined && { failed: true }) };
  if (approved) return { decision: 'stop', reason, context };
  return round < maxRounds ? { decision: 'request', reason, context } : { decision: 'forbid', stopReason: 'retry_limit', reason, context };
}

type Changes = Partial<Pick<ChangesAt['after_step'], 'output' | 'votes' | 'metadata'>>;

async function critique(facts: Facts, answer: string, settings: Settings): Promise<Changes> {
  const { step, ids, executionId, report } = facts;
  const { maxRounds } = settings;
  const judged = await judge(facts, answer, settings);
  const votes = toVote(judged, maxRounds);
  const { strengths, ...found } = judged;
  const record: JsonObject = present({ executionId, ...found });
  report(votes.reason, { ...record, maxRounds, strengths });
  const kept = { votes, metadata: { self_critique: record } };
  if (votes.decision !== 'request') return kept;
  return { ...kept, output: [...step.outputMessages, Message.user(writeCritique(judged), { ids, metadata: { purpose } })] };
}

/**
 * Lets a critic judge each final answer, with what tools gave as evidence. An answer that it does not approve goes back to the model
 * with what is wrong; after `maxRounds` of that the run stops with `retry_limit`. The last verdict is kept in the state's metadata
 * under `self_critique`.
 */
export function selfCritique(options: SelfCritiqueOptions): Capability<readonly [], ToolUseState, unknown> {
  checkOptions('selfCritique()', options, { rules, required: ['model'] });
  const settings: Settings = { maxRounds: 2, instructions: '', maxEvidenceLength: 8000, ...omitUndefined({ ...options }) };
  const hook = defineHook({
    name,
    changes: ['output', 'votes', 'metadata'],
    // The limits of the run bound it, and the time-outs of the critic's own model.
    timeoutMs: Infinity,
    afterStep: (facts) => {
      const answer = getAnswer(facts.step);
      return answer === undefined ? undefined : critique(facts, answer, settings);
    },
  });
  return defineAnyCapability({ name, description: 'A critic judges final answers, and has them revised.', hooks: [hook] });
}
