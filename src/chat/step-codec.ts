// Stores the fields that a turn has besides the common ones of a step.
import type { ContinuationOutcome } from '../continuation/index.ts';
import { StopReason } from '../continuation/index.ts';
import type { JsonObject, ObjectReader } from '../lib/index.ts';
import { DamagedDataError, omitUndefined, present, readObject, readString } from '../lib/index.ts';
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

function decodeInner(fields: ObjectReader, outcome: ContinuationOutcome | undefined): InnerRun | undefined {
  const data = fields.optionalObject('inner');
  return (
    data &&
    omitUndefined({
      orchestrator: data.string('orchestrator'),
      agentId: fields.string('innerId'),
      status: data.oneOf('status', Object.values(ExecutionStatus)),
      stepCount: data.number('stepCount'),
      stopReason: data.optionalOneOf('stopReason', Object.values(StopReason)),
      outcome,
      calls: fields.optionalArray('calls', readCall),
    })
  );
}

function readWindow(input: unknown, path: string): ParticipantWindow {
  const data = readObject(input, path);
  return omitUndefined({
    folded: data.value('folded', readCount),
    buffered: data.value('buffered', readCount),
    kept: data.optionalArray('kept', readString),
    foldedCalls: data.optionalArray('foldedCalls', readString),
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

function encodeInner({ outcome: _, agentId: innerId, calls, ...inner }: InnerRun): JsonObject {
  return present({ inner, innerId, calls });
}

/** Writes the fields that a turn has besides the common ones. */
export function encodeTurn({ input, selection, inner, window, unfinished, memo }: ChatStep): JsonObject {
  return present({
    input,
    selection: selection?.usage === undefined ? selection : { ...selection, usage: Usage.toJSON(selection.usage) },
    unfinished: unfinished && { at: unfinished.at, messages: unfinished.messages.map((message) => message.toJSON()) },
    ...(inner !== undefined && encodeInner(inner)),
    window: window && present({ ...window, summary: window.summary?.toJSON() }),
    memo,
  });
}

/** Reads a turn. */
export function decodeTurn(step: Step, fields: ObjectReader, innerOutcome?: ContinuationOutcome): ChatStep {
  return omitUndefined({
    ...step,
    input: fields.optionalString('input'),
    unfinished: fields.optionalValue('unfinished', readUnfinished),
    selection: fields.optionalValue('selection', readSelection),
    inner: decodeInner(fields, innerOutcome),
    window: fields.optionalValue('window', readWindow),
    memo: fields.optionalValue('memo', readMemo),
  });
}

export const getInnerOutcome = ({ inner }: ChatStep): ContinuationOutcome | undefined => inner?.outcome;

/** Stores the turns of a chat. */
export const turnCodec: StepFieldsCodec<ChatStep> = { encode: encodeTurn, decode: decodeTurn, getInnerOutcome };
