// Writes what a turn has beside the common fields of a step.
import { ContinuationOutcome, packOutcome, StopReason, unpackOutcome } from '../continuation/index.ts';
import type { Json, JsonObject, ObjectReader } from '../lib/index.ts';
import { DamagedDataError, omitUndefined, present, readObject } from '../lib/index.ts';
import { Message, Usage } from '../messages/index.ts';
import type { Step, StepFieldsCodec } from '../step-by-step/index.ts';
import { ExecutionStatus } from '../step-by-step/index.ts';
import type { ToolExecutionStatus } from '../tools/index.ts';
import { ParticipantKind } from './participant-kind.ts';
import type { ChatStep, InnerRun, ParticipantWindow, Selection, TurnMemo, UnfinishedTurn } from './chat-step.ts';

const callStatuses: readonly ToolExecutionStatus[] = ['succeeded', 'failed', 'rejected', 'cancelled', 'unknown'];

function readSelection(input: unknown, path: string): Selection {
  const data = readObject(input, path);
  return omitUndefined({
    by: data.string('by'),
    reason: data.optionalString('reason'),
    problem: data.optionalString('problem'),
    usage: data.optionalValue('usage', Usage.fromJSON),
  });
}

function readCall(input: unknown, path: string): { readonly tool: string; readonly status: ToolExecutionStatus } {
  const data = readObject(input, path);
  return { tool: data.string('tool'), status: data.oneOf('status', callStatuses) };
}

// Far above what anybody has: a damaged number must not be counted up to.
const mostVotes = 10_000;

/** The field that holds one evaluation of what was decided about the run inside. */
const voteField = (index: number): string => `vote${index}`;

// Fields that are the same in the turn before are not written again: so each vote has a field of its own.
function encodeInner({ outcome, agentId, calls, ...run }: InnerRun): JsonObject {
  const packed = outcome === undefined ? undefined : packOutcome(outcome);
  const votes: readonly Json[] = Array.isArray(packed) ? (packed as readonly Json[]) : [];
  return present({
    inner: run,
    innerId: agentId,
    calls,
    votes: Array.isArray(packed) ? votes.length : undefined,
    outcome: Array.isArray(packed) ? undefined : packed,
    ...Object.fromEntries(votes.map((vote, index) => [voteField(index), vote])),
  });
}

function readOutcome(fields: ObjectReader): ContinuationOutcome | undefined {
  const count = fields.optionalNumber('votes');
  if (count === undefined) return fields.optionalValue('outcome', ContinuationOutcome.fromJSON);
  if (!Number.isInteger(count) || count < 0 || count > mostVotes)
    throw new DamagedDataError(`${fields.path}.votes`, `expected a whole number from 0 to ${mostVotes}, found ${count}`);
  const votes = Array.from({ length: count }, (_, index) => fields.json(voteField(index)));
  return unpackOutcome(votes, `${fields.path}.votes`);
}

function decodeInner(fields: ObjectReader): InnerRun | undefined {
  const data = fields.optionalObject('inner');
  if (data === undefined) return undefined;
  return omitUndefined({
    orchestrator: data.string('orchestrator'),
    agentId: fields.string('innerId'),
    status: data.oneOf('status', Object.values(ExecutionStatus)),
    stepCount: data.number('stepCount'),
    stopReason: data.optionalOneOf('stopReason', Object.values(StopReason)),
    outcome: readOutcome(fields),
    calls: fields.optionalArray('calls', readCall),
  });
}

function readText(input: unknown, path: string): string {
  if (typeof input === 'string') return input;
  throw new DamagedDataError(path, 'expected text');
}

function readWindow(input: unknown, path: string): ParticipantWindow {
  const data = readObject(input, path);
  return omitUndefined({
    folded: data.value('folded', readCount),
    buffered: data.value('buffered', readCount),
    kept: data.optionalArray('kept', readText),
    foldedCalls: data.optionalArray('foldedCalls', readText),
    summary: data.optionalValue('summary', Message.fromJSON),
  });
}

function readCount(input: unknown, path: string): number {
  if (typeof input === 'number' && Number.isInteger(input) && input >= 0) return input;
  throw new DamagedDataError(path, `expected a whole number from 0 on, found ${JSON.stringify(input)}`);
}

function readUnfinished(input: unknown, path: string): UnfinishedTurn {
  const data = readObject(input, path);
  return { at: data.value('at', readCount), messages: data.array('messages', Message.fromJSON) };
}

function readMemo(input: unknown, path: string): TurnMemo {
  const data = readObject(input, path);
  return omitUndefined({
    round: data.number('round'),
    kind: data.oneOf('kind', Object.values(ParticipantKind)),
    state: data.optionalJson('state'),
  });
}

/** What turns have beside the common fields, written. */
export function encodeTurn({ input, selection, inner, window, unfinished, memo }: ChatStep): JsonObject {
  return present({
    input,
    selection: selection?.usage === undefined ? selection : { ...selection, usage: Usage.toJSON(selection.usage) },
    unfinished:
      unfinished === undefined ? undefined : { at: unfinished.at, messages: unfinished.messages.map((message) => message.toJSON()) },
    ...(inner !== undefined && encodeInner(inner)),
    window: window === undefined ? undefined : present({ ...window, summary: window.summary?.toJSON() }),
    memo,
  });
}

/** A turn, read again. */
export function decodeTurn(step: Step, fields: ObjectReader): ChatStep {
  const own = omitUndefined({
    input: fields.optionalString('input'),
    unfinished: fields.optionalValue('unfinished', readUnfinished),
    selection: fields.optionalValue('selection', readSelection),
    inner: decodeInner(fields),
    window: fields.optionalValue('window', readWindow),
    memo: fields.optionalValue('memo', readMemo),
  });
  return { ...step, ...own };
}

/** How the turns of a chat are stored. */
export const turnCodec: StepFieldsCodec<ChatStep> = { encode: encodeTurn, decode: decodeTurn };
