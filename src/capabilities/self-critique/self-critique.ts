// Self-critique: a second model judges final answers before the run may end with them.
// Owns:     nothing that changes: the number of revisions is read from the steps of the execution.
// Does not: judge answers to a limit, steps with calls, or steps that failed.
// K1. The critic is asked at most once a step, and decides nothing alone: it votes. Every answer is judged, the last revision too.
// K2. A critic that fails counts as approval, and the evaluation says so.
// K3. An execution starts with no revisions; pause and storage leave their number as it is.
import type { AfterStepFacts, Capability, ChangesAt, Vote } from '../../hooks/index.ts';
import { defineAnyCapability } from '../../hooks/index.ts';
import type { Model, ModelOutcome } from '../../inference/index.ts';
import { checkModel } from '../../inference/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { omitUndefined, present } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { ToolUseState, ToolUseStep } from '../../tool-use/index.ts';
import { checkOptions, defineHook, optionRule, StepType } from '../../tool-use/index.ts';
import { collectEvidence, collectQuestions, truncateText } from './material.ts';
import type { ReadVerdict, Verdict } from './verdict.ts';
import { createCriticRequest, readVerdict, writeCritique } from './verdict.ts';

/** Options of self-critique. */
export interface SelfCritiqueOptions {
  /** The critic. It may be the model that answers; a different one sees more. */
  readonly model: Model;
  /** Number of revisions that are asked for in one execution, at most; if the last one is refused too, the run stops. @default 2 */
  readonly maxRevisions?: number;
  /** Advice for the critic. @default to check that the answer is complete, and its facts are in the evidence */
  readonly instructions?: string;
  /** Number of characters that the critic reads of calls and results; the newest are kept. @default 8000 */
  readonly maxEvidenceLength?: number;
}

/** The options with their defaults. */
type Settings = Required<SelfCritiqueOptions>;

/** A verdict on one answer. */
interface JudgedAnswer extends Verdict {
  /** Number of the revision that was judged; 0 for the first answer. */
  readonly revision: number;
  /** Reason why the critic could not judge; the answer then counts as approved. */
  readonly failed?: string;
}

type Facts = AfterStepFacts<ToolUseState, unknown>;

const name = 'self-critique';
const purpose = 'critique';
const rules = {
  maxRevisions: [(value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number of 0 or more'],
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

/** Counts the revisions that were asked for in this execution. */
const countRevisions = ({ stepResults }: ToolUseState): number =>
  stepResults.flatMap(({ step }) => step.outputMessages).filter(isCritique).length;

function readOutcome(outcome: ModelOutcome): ReadVerdict {
  if (!outcome.ok) return { ok: false, problem: outcome.failure.message };
  return readVerdict(outcome.response.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''));
}

const noVerdict = { approved: true, summary: '', strengths: [], weaknesses: [], suggestions: [] } as const;

async function judge({ state, ask }: Facts, answer: string, settings: Settings): Promise<JudgedAnswer> {
  const { model, instructions, maxEvidenceLength } = settings;
  const material = { question: collectQuestions(state), evidence: collectEvidence(state.steps, maxEvidenceLength), answer };
  const revision = countRevisions(state);
  const read = readOutcome(await ask(model, createCriticRequest(material, instructions)));
  return read.ok ? { ...read.verdict, revision } : { ...noVerdict, revision, failed: read.problem };
}

// A reason is one line of an explanation.
const toOneLine = (text: string): string => truncateText(text.replace(/\s+/g, ' ').trim(), 300);

function describeVerdict({ revision, approved, summary, weaknesses, failed }: JudgedAnswer, maxRevisions: number): string {
  const which = revision === 0 ? 'the answer' : `revision ${revision} of ${maxRevisions}`;
  if (failed !== undefined) return toOneLine(`the critic failed to judge ${which}, which counts as approval: ${failed}`);
  const verdict = approved ? 'approved' : 'did not approve';
  const last = approved || revision < maxRevisions ? '' : revision === 0 ? ', and no revision is allowed' : ', which was the last one';
  const why = summary === '' && !approved ? (weaknesses[0] ?? '') : summary;
  return toOneLine(`the critic ${verdict} ${which}${last}${why === '' ? '' : `: ${why}`}`);
}

function toVote(judged: JudgedAnswer, maxRevisions: number): Vote {
  const { revision, approved, failed } = judged;
  const reason = describeVerdict(judged, maxRevisions);
  const context = { revision, maxRevisions, approved, ...(failed !== undefined && { failed: true }) };
  if (approved) return { decision: 'stop', reason, context };
  if (revision < maxRevisions) return { decision: 'request', reason, context };
  return { decision: 'forbid', stopReason: 'retry_limit', reason, context };
}

type Changes = Partial<Pick<ChangesAt['after_step'], 'output' | 'votes' | 'metadata'>>;

async function critique(facts: Facts, answer: string, settings: Settings): Promise<Changes> {
  const { step, ids, executionId, report } = facts;
  const { maxRevisions } = settings;
  const judged = await judge(facts, answer, settings);
  const votes = toVote(judged, maxRevisions);
  const { strengths, ...found } = judged;
  const record: JsonObject = present({ executionId, ...found });
  report(votes.reason, { ...record, maxRevisions, strengths });
  const kept = { votes, metadata: { self_critique: record } };
  if (votes.decision !== 'request') return kept;
  return { ...kept, output: [...step.outputMessages, Message.user(writeCritique(judged), { ids, metadata: { purpose } })] };
}

/**
 * Lets a critic judge each final answer, with what tools gave as evidence. An answer that it does not approve goes back to the model
 * with what is wrong, at most `maxRevisions` times; if the last revision is refused too, the run stops with `retry_limit`. The last
 * verdict is kept in the state's metadata
 * under `self_critique`.
 */
export function selfCritique(options: SelfCritiqueOptions): Capability<readonly [], ToolUseState, unknown> {
  checkOptions('selfCritique()', options, { rules, known: ['model', ...Object.keys(rules)] });
  checkModel('selfCritique()', options.model);
  const settings: Settings = { maxRevisions: 2, instructions: '', maxEvidenceLength: 8000, ...omitUndefined({ ...options }) };
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
