// When a task is done.
// Owns:     the conditions, and who of the collaborators may agree.
// C1. Approvals count from the last word from outside on, and only of an artifact as it stands: whoever changes it has to ask again.
// C2. A form is checked before judging, and its finding stands on the turn.
import type { EveryoneHasSpoken } from '../chat/index.ts';
import type { ContinuationEvaluation, CanExplainContinuation } from '../continuation/index.ts';
import { ContinuationDecision } from '../continuation/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, isRecord, jsonEquals } from '../lib/index.ts';
import type { StepScope } from '../step-by-step/index.ts';
import { hashConfiguration } from '../tool-use/index.ts';
import type { AnswerSchema, ToolInput } from '../tools/index.ts';
import { issuesText, toAnswerSchema } from '../tools/index.ts';
import { findArtifactNameProblem } from './board.ts';
import type { Fit } from './collaboration-step.ts';
import type { CollaborationState } from './collaboration-state.ts';

/** Conditions under which a task is done; all of them must hold. */
export interface Completion {
  /** Names of those who have to approve the artifact as it stands; without `artifact`, everything on the board. */
  readonly approvedBy?: readonly string[];
  /** The artifact that counts. */
  readonly artifact?: string;
  /** Schema of the artifact: a Standard Schema or a JSON Schema. JSON text is parsed before it is checked. */
  readonly schema?: ToolInput;
}

/** A completion, checked and prepared. */
export interface PreparedCompletion {
  readonly approvedBy: readonly string[];
  readonly artifact: string | undefined;
  readonly schema: AnswerSchema | undefined;
  /** Fingerprint of the schema. */
  readonly fingerprint: string;
}

const known = ['approvedBy', 'artifact', 'schema'];

function findProblem(given: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  const { approvedBy, artifact, schema } = given;
  checkKeys('done of createCollaboration()', given, known);
  if (approvedBy === undefined && schema === undefined) return 'needs approvedBy, or artifact and schema';
  if (artifact !== undefined && findArtifactNameProblem(artifact) !== undefined)
    return 'needs an artifact name of 1 to 100 characters in one line';
  if (schema !== undefined && artifact === undefined) return 'has a schema but no artifact; name the artifact that must match it';
  if (approvedBy === undefined) return undefined;
  if (!Array.isArray(approvedBy) || approvedBy.length === 0) return 'needs at least one name in approvedBy';
  const list: readonly unknown[] = approvedBy;
  const stranger = list.find((name) => !names.some((each) => each === name));
  return stranger === undefined
    ? undefined
    : `has ${describeValue(stranger)} in approvedBy, who is not a collaborator; the collaborators are ${names.join(', ')}`;
}

/** Prepares a completion. Throws if it could never hold. */
export function toCompletion(given: Completion | undefined, names: readonly string[]): PreparedCompletion | undefined {
  if (given === undefined) return undefined;
  const problem = isRecord(given) ? findProblem(given, names) : 'must be an object with approvedBy, artifact or schema';
  if (problem !== undefined) throw new InvalidArgumentError(`createCollaboration(): done ${problem}.`);
  const { approvedBy = [], artifact, schema } = given;
  const ready = schema === undefined ? undefined : toAnswerSchema(schema, 'done.schema');
  return { approvedBy, artifact, schema: ready, fingerprint: hashConfiguration({ schema: ready?.json }) };
}

/** Describes the completion to collaborators. */
export function describeCompletion({ approvedBy, artifact, schema }: PreparedCompletion): string {
  const what = artifact === undefined ? 'everything on the board' : `"${artifact}"`;
  const conditions = [
    ...(approvedBy.length > 0
      ? [`${approvedBy.join(' and ')} ${approvedBy.length === 1 ? 'has' : 'have'} approved ${what} as it stands`]
      : []),
    ...(schema === undefined ? [] : [`"${artifact ?? ''}" is JSON that fits this schema: ${JSON.stringify(schema.json)}`]),
  ];
  return `The task is done when ${conditions.join(', and ')}.`;
}

/** Time limit of a check. */
const fitMs = 30_000;

/** Describes why a value does not fit; undefined if it does. A text may look like JSON and be meant as a text. */
async function describeMisfit(schema: AnswerSchema, value: unknown, content: string): Promise<string | undefined> {
  const parsed = await schema.parse(value);
  if (parsed.ok || (value !== content && (await schema.parse(content)).ok)) return undefined;
  return issuesText(parsed.issues);
}

/** Checks the artifact against its form, if there is one. A schema is the host's own code: it may throw, or hang. Never rejects. */
export async function checkFit(
  { board, lastStepResult }: CollaborationState,
  { artifact, schema, fingerprint }: PreparedCompletion,
  { effects, stepNumber }: Pick<StepScope, 'effects' | 'stepNumber'>,
): Promise<Fit | undefined> {
  if (artifact === undefined || schema === undefined) return undefined;
  const { version, content } = board.get(artifact) ?? { version: 0 };
  const base = { artifact, version, schema: fingerprint };
  const before = lastStepResult?.step.fit;
  // The same version was checked against the same form before, with a result.
  if (before?.isUnknown !== true && before !== undefined && jsonEquals({ ...before, ...base }, before)) return before;
  if (content === undefined) return { ...base, ok: false, problem: 'it is not on the board' };
  const work = async (): Promise<string | null> => (await describeMisfit(schema, board.value(artifact), content)) ?? null;
  const checked = await effects.run(`fit/${stepNumber}`, work, {
    effect: 'pure',
    timeoutMs: fitMs,
    label: `The check of "${artifact}"`,
    late: 'drop',
  });
  if (!checked.ok) return { ...base, ok: false, problem: `it could not be checked: ${checked.message}`, isUnknown: true };
  return checked.value === null ? { ...base, ok: true } : { ...base, ok: false, problem: checked.value };
}

/** Describes the approvals that are missing. */
function listOpenApprovals(state: CollaborationState, { approvedBy, artifact }: PreparedCompletion): readonly string[] {
  if (approvedBy.length === 0) return [];
  const artifacts = artifact === undefined ? state.board.names : [artifact];
  if (artifacts.length === 0) return ['there is nothing on the board to approve'];
  const { approvals, board } = state;
  return artifacts.flatMap((name) => {
    const version = board.get(name)?.version;
    if (version === undefined) return [`there is no "${name}" on the board`];
    const missing = approvedBy.filter((by) => !approvals.some((each) => each.by === by && each.artifact === name));
    if (missing.length === 0) return [];
    return [`${missing.join(' and ')} ${missing.length === 1 ? 'has' : 'have'} not approved "${name}" (version ${version})`];
  });
}

const isWritten = (state: CollaborationState, name: string): boolean =>
  state.turnsSinceInput.some(({ changes = [] }) => changes.some((change) => change.type === 'write' && change.artifact === name));

/** Requests another turn while the task is not done; allows a stop when it is. */
export class TaskCompletion implements CanExplainContinuation<CollaborationState> {
  readonly name = 'TaskCompletion';
  readonly #completion: PreparedCompletion;
  readonly #everyone: EveryoneHasSpoken;

  constructor(completion: PreparedCompletion, everyone: EveryoneHasSpoken) {
    this.#completion = completion;
    this.#everyone = everyone;
  }

  /** Describes what is still to be done. */
  listOpen(state: CollaborationState): readonly string[] {
    return [...listOpenApprovals(state, this.#completion), ...this.#listOpenForm(state)];
  }

  /** True while something is still to be done. */
  isOpen(state: CollaborationState): boolean {
    return this.listOpen(state).length > 0;
  }

  #listOpenForm(state: CollaborationState): readonly string[] {
    const { schema, artifact, approvedBy } = this.#completion;
    if (schema === undefined || artifact === undefined) return [];
    const fit = state.currentStep?.fit;
    if (fit === undefined) return [`"${artifact}" was not checked yet`];
    if (!fit.ok) return [`"${artifact}" does not have its form: ${fit.problem ?? 'no reason was given'}`];
    // What fitted before the last input is not an answer to it, until somebody has touched it or everyone has left it as it is.
    const isAnswered = approvedBy.length > 0 || isWritten(state, artifact) || !this.#everyone.isOpen(state);
    return isAnswered ? [] : [`"${artifact}" fits, and was not touched since the last input`];
  }

  explain(state: CollaborationState): ContinuationEvaluation {
    const open = this.listOpen(state);
    const context: JsonObject = { open: open.length, approvals: state.approvals.length, turns: state.turnsSinceInput.length };
    const { name: criterion } = this;
    return open.length === 0
      ? { criterion, decision: ContinuationDecision.AllowStop, reason: this.#describeDone(), context }
      : { criterion, decision: ContinuationDecision.RequestContinuation, reason: open.join('; '), context };
  }

  #describeDone(): string {
    const { approvedBy, artifact, schema } = this.#completion;
    const what = artifact === undefined ? 'everything on the board' : `"${artifact}"`;
    const parts = [
      ...(approvedBy.length > 0 ? [`${approvedBy.join(' and ')} approved ${what}`] : []),
      ...(schema === undefined ? [] : [`${what} has its form`]),
    ];
    return `the task is done: ${parts.join(', and ')}`;
  }
}
