import type { ParsedWords } from '../chat/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import { findKeyProblem, isRecord } from '../lib/index.ts';
import { findArtifactNameProblem } from './board.ts';
import type { CollaborationState } from './collaboration-state.ts';

/** Contribution of a collaborator who is not a model: words, writes, approvals, a handover. */
export interface Contribution {
  readonly text?: string;
  /** Content by artifact name. */
  readonly writes?: Readonly<Record<string, string>>;
  /** Names of artifacts to approve as they stand, with what is written in this turn. */
  readonly approves?: readonly string[];
  readonly handoff?: { readonly to: string; readonly reason: string };
}

/** Names of all collaborators, and of those who may approve. */
export interface Rights {
  readonly names: readonly string[];
  readonly approvers: readonly string[];
}

const known = ['text', 'writes', 'approves', 'handoff'];
const isText = (given: unknown): given is string => typeof given === 'string';

function findHandoffProblem(handoff: unknown, names: readonly string[], participant: string): string | undefined {
  if (handoff === undefined) return undefined;
  if (!isRecord(handoff) || !isText(handoff['to']) || !isText(handoff['reason'])) return 'handoff must be { to, reason }, both strings.';
  const { to } = handoff;
  const others = names.filter((name) => name !== participant);
  return others.includes(to) ? undefined : `Unknown collaborator ${JSON.stringify(to)} in handoff. Use one of ${others.join(', ')}.`;
}

function findWritesProblem(writes: unknown): string | undefined {
  if (writes === undefined) return undefined;
  if (!isRecord(writes) || Array.isArray(writes)) return 'writes must be an object of contents by artifact name.';
  const strange = Object.entries(writes).find(([, content]) => !isText(content));
  if (strange !== undefined) return `The content of "${strange[0]}" must be a string. Write data as JSON text.`;
  return Object.keys(writes)
    .map(findArtifactNameProblem)
    .find((problem) => problem !== undefined);
}

function findApprovesProblem(
  approves: unknown,
  { there, isApprover }: { readonly there: readonly string[]; readonly isApprover: boolean },
): string | undefined {
  if (approves === undefined) return undefined;
  if (!Array.isArray(approves) || !approves.every(isText)) return 'approves must be a list of artifact names.';
  if (approves.length > 0 && !isApprover) return 'This collaborator may not approve artifacts: it is not listed in done.approvedBy.';
  const missing = approves.find((name) => !there.includes(name));
  return missing === undefined
    ? undefined
    : `Unknown artifact "${missing}" in approves. On the board: ${there.length === 0 ? 'nothing' : there.join(', ')}.`;
}

/** Whoever was asked about another version has not seen this one. */
function findStaleProblem(
  { approves = [], writes = {} }: Contribution,
  { board }: CollaborationState,
  shown: Json | undefined,
): string | undefined {
  if (!isRecord(shown)) return undefined;
  const changed = approves.find((name) => !Object.hasOwn(writes, name) && board.get(name)?.version !== shown[name]);
  return changed === undefined
    ? undefined
    : `"${changed}" has changed since it was shown: it is version ${board.get(changed)?.version ?? 0} now. Read it and answer again.`;
}

/** Parses the contribution of a collaborator who is not a model. */
export function parseContribution(
  said: unknown,
  { state, participant, shown }: { readonly state: CollaborationState; readonly participant: string; readonly shown?: Json | undefined },
  { names, approvers }: Rights,
): ParsedWords {
  if (isText(said)) return { ok: true, text: said };
  if (!isRecord(said) || Array.isArray(said))
    return { ok: false, problem: 'A contribution must be a string, or { text, writes, approves, handoff }.' };
  const { text = '', writes, approves, handoff } = said;
  const there = [...state.board.names, ...(isRecord(writes) ? Object.keys(writes) : [])];
  if (!isText(text)) return { ok: false, problem: 'text must be a string.' };
  const problem =
    findKeyProblem('a contribution', said, known) ??
    findWritesProblem(writes) ??
    findApprovesProblem(approves, { there, isApprover: approvers.includes(participant) }) ??
    findStaleProblem(said, state, shown) ??
    findHandoffProblem(handoff, names, participant);
  if (problem !== undefined) return { ok: false, problem };
  return { ok: true, text, changes: listChanges(said, state) };
}

function listChanges({ writes = {}, approves = [], handoff }: Contribution, { board }: CollaborationState): readonly JsonObject[] {
  const after = Object.entries(writes).reduce((next, [name, content]) => next.with(name, content), board);
  const toChange = (type: string, artifact: string): JsonObject => ({ type, artifact, version: after.get(artifact)?.version ?? 1 });
  return [
    ...Object.entries(writes).map(([artifact, content]) => ({ ...toChange('write', artifact), content })),
    ...approves.map((artifact) => toChange('approve', artifact)),
    ...(handoff === undefined ? [] : [{ type: 'handoff', to: handoff.to, reason: handoff.reason }]),
  ];
}
