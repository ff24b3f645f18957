// Writes and reads whole states.
// Owns:     the stored form of everything the loop keeps; a room adds its steps' own fields.
// C1. What was written is read again as the same state, down to each outcome.
// C2. A message stands once: steps refer to the messages of the store by id.
// C3. The wall clock and findings are not written: a state that was read has not begun to run.
// C4. Fields at the top that this version does not know are kept and written again.
import { ContinuationEvaluation, ContinuationOutcome } from '../continuation/index.ts';
import type { ErrorHandlingDecision } from '../errors/index.ts';
import type { JsonObject, ObjectReader } from '../lib/index.ts';
import { AppendOnlyList, present, readJsonObject, readObject } from '../lib/index.ts';
import { Message, MessageStore, Usage } from '../messages/index.ts';
import type { Codec } from '../serialization/index.ts';
import { createCodec } from '../serialization/index.ts';
import type { Execution } from './execution.ts';
import { readFailure } from './read-failure.ts';
import { readAnswer, readWait } from './read-waiting.ts';
import type { RunState, RunStateData } from './run-state.ts';
import { StateInfo } from './state-info.ts';
import type { Grant } from './grant.ts';
import type { Cost, Step } from './step.ts';
import { Interruption } from './step.ts';
import type { RecordedHandling, StepTiming } from './step-result.ts';
import { StepResult } from './step-result.ts';
import type { PendingStep } from './waiting.ts';

/** How a room writes what its steps have beside the common fields. */
export interface StepFieldsCodec<S extends Step> {
  encode(step: S): JsonObject;
  decode(step: Step, fields: ObjectReader): S;
}

/** What makes the codec of one kind of state. */
export interface StateCodecOptions<State extends RunState<S>, S extends Step> {
  /** Names the kind of state in what is stored. */
  readonly kind: string;
  readonly step: StepFieldsCodec<S>;
  readonly build: (data: RunStateData<S>) => State;
}

const readCost = (input: unknown, path: string): Cost => {
  const data = readObject(input, path);
  const unknownCalls = data.optionalNumber('unknownCalls');
  return { usd: data.number('usd'), ...(unknownCalls !== undefined && { unknownCalls }) };
};

const readGrant = (input: unknown, path: string): Grant => {
  const data = readObject(input, path);
  const amounts = (['steps', 'tokens', 'wallMs', 'activeMs', 'costUsd'] as const).map((budget) => [budget, data.optionalNumber(budget)]);
  return Object.fromEntries(amounts.filter(([, amount]) => amount !== undefined)) as Grant;
};

type MessageLookup = ReadonlyMap<string, Message>;

const byId = (store: MessageStore): MessageLookup =>
  new Map(store.names.flatMap((name) => [...store.section(name)]).map((message) => [message.id, message]));

function createStepCodec<S extends Step>(fields: StepFieldsCodec<S>, stored: MessageLookup) {
  return {
    encode: (step: S): JsonObject =>
      present({
        id: step.id,
        outputMessages: step.outputMessages.map((message) => (stored.get(message.id) === message ? message.id : message.toJSON())),
        usage: Usage.toJSON(step.usage),
        errors: step.errors.length === 0 ? undefined : step.errors,
        interrupted: step.interrupted,
        finishReason: step.finishReason,
        hasToolCalls: step.hasToolCalls,
        cost: step.cost,
        finalizing: step.finalizing,
        evaluations: step.evaluations,
        fields: fields.encode(step),
      }),
    decode: (input: unknown, path: string): S => {
      const data = readObject(input, path);
      const interrupted = data.optionalOneOf('interrupted', Object.values(Interruption));
      const finishReason = data.optionalString('finishReason');
      const hasToolCalls = data.optionalBoolean('hasToolCalls');
      const evaluations = data.optionalArray('evaluations', ContinuationEvaluation.fromJSON);
      const cost = data.optionalValue('cost', readCost);
      const finalizing = data.optionalBoolean('finalizing');
      const step: Step = {
        id: data.string('id'),
        outputMessages: data.array('outputMessages', (item, at) => stored.get(item as string) ?? Message.fromJSON(item, at)),
        usage: data.value('usage', Usage.fromJSON),
        errors: data.optionalArray('errors', readFailure) ?? [],
        ...(interrupted !== undefined && { interrupted }),
        ...(finishReason !== undefined && { finishReason }),
        ...(hasToolCalls !== undefined && { hasToolCalls }),
        ...(evaluations !== undefined && { evaluations }),
        ...(cost !== undefined && { cost }),
        ...(finalizing !== undefined && { finalizing }),
      };
      return fields.decode(step, data.object('fields'));
    },
  };
}

type StepCodec<S extends Step> = ReturnType<typeof createStepCodec<S>>;

const readTiming = (input: unknown, path: string): StepTiming => {
  const data = readObject(input, path);
  return {
    startedAt: data.number('startedAt'),
    endedAt: data.number('endedAt'),
    activeMs: data.number('activeMs'),
    waitedMs: data.number('waitedMs'),
  };
};

const readHandling = (input: unknown, path: string): RecordedHandling => {
  const data = readObject(input, path);
  const delayMs = data.optionalNumber('delayMs');
  return {
    decision: data.oneOf<ErrorHandlingDecision>('decision', ['stop', 'retry', 'ignore']),
    errorType: data.oneOf('errorType', ['tool', 'model', 'validation', 'rate_limit', 'timeout', 'unknown']),
    consecutiveFailures: data.number('consecutiveFailures'),
    totalFailures: data.number('totalFailures'),
    ...(delayMs !== undefined && { delayMs }),
  };
};

function encodeResult<S extends Step>({ step, outcome, timing, handling }: StepResult<S>, steps: StepCodec<S>): JsonObject {
  return present({ step: steps.encode(step), outcome: outcome.toJSON(), timing, handling });
}

function decodeResult<S extends Step>(
  input: unknown,
  path: string,
  { steps, number }: { readonly steps: StepCodec<S>; readonly number: number },
): StepResult<S> {
  const data = readObject(input, path);
  const handling = data.optionalValue('handling', readHandling);
  return new StepResult({
    number,
    step: data.value('step', steps.decode),
    outcome: data.value('outcome', ContinuationOutcome.fromJSON),
    timing: data.value('timing', readTiming),
    ...(handling !== undefined && { handling }),
  });
}

function encodePending<S extends Step>(pending: PendingStep<S>, steps: StepCodec<S>): JsonObject {
  return present({ ...pending, partial: steps.encode(pending.partial) });
}

function decodePending<S extends Step>(input: unknown, path: string, steps: StepCodec<S>): PendingStep<S> {
  const data = readObject(input, path);
  return {
    number: data.number('number'),
    partial: data.value('partial', steps.decode),
    waits: data.array('waits', readWait),
    answers: data.array('answers', readAnswer),
    startedAt: data.number('startedAt'),
    parkedAt: data.number('parkedAt'),
    activeMs: data.number('activeMs'),
    waitedMs: data.number('waitedMs'),
  };
}

function encodeExecution<S extends Step>(execution: Execution<S>, steps: StepCodec<S>): JsonObject {
  return present({
    id: execution.id,
    number: execution.number,
    startedAt: execution.startedAt,
    activeMs: execution.activeMs,
    waitedMs: execution.waitedMs,
    usage: Usage.toJSON(execution.usage),
    cost: execution.cost,
    grants: execution.grants,
    regranted: execution.regranted,
    grantRefused: execution.grantRefused,
    failedSteps: execution.failedSteps,
    results: [...execution.results].map((result) => encodeResult(result, steps)),
    startOutcome: execution.startOutcome?.toJSON(),
    pendingStep: execution.pendingStep === undefined ? undefined : encodePending(execution.pendingStep, steps),
    queued: execution.queued?.map((message) => message.toJSON()),
    agent: execution.agent,
    resumedBy: execution.resumedBy,
  });
}

function decodeExecution<S extends Step>(input: unknown, path: string, steps: StepCodec<S>): Execution<S> {
  const data = readObject(input, path);
  let number = 0;
  return {
    id: data.optionalString('id'),
    number: data.number('number'),
    startedAt: data.optionalNumber('startedAt'),
    activeMs: data.number('activeMs'),
    waitedMs: data.number('waitedMs'),
    usage: data.value('usage', Usage.fromJSON),
    cost: data.optionalValue('cost', readCost),
    grants: data.optionalArray('grants', readGrant),
    regranted: data.optionalBoolean('regranted'),
    grantRefused: data.optionalString('grantRefused'),
    failedSteps: data.number('failedSteps'),
    results: AppendOnlyList.from(data.array('results', (item, at) => decodeResult(item, at, { steps, number: (number += 1) }))),
    startOutcome: data.optionalValue('startOutcome', ContinuationOutcome.fromJSON),
    pendingStep: data.optionalValue('pendingStep', (item, at) => decodePending(item, at, steps)),
    queued: data.optionalArray('queued', Message.fromJSON),
    agent: data.optionalJsonObject('agent'),
    resumedBy: data.optionalArray('resumedBy', readJsonObject),
  };
}

const knownFields = ['info', 'agentId', 'parentAgentId', 'store', 'metadata', 'execution', 'past', 'lastSeq', 'owesEvents'];

/** Makes the codec of one kind of state. */
export function createStateCodec<State extends RunState<S>, S extends Step>({
  kind,
  step,
  build,
}: StateCodecOptions<State, S>): Codec<State> {
  return createCodec<State>({
    kind,
    version: 1,
    encode: ({ data }) => {
      const steps = createStepCodec(step, byId(data.store));
      return present({
        ...data.unknownFields,
        info: data.info.toJSON(),
        agentId: data.agentId,
        parentAgentId: data.parentAgentId,
        store: data.store.toJSON(),
        metadata: data.metadata,
        execution: encodeExecution(data.execution, steps),
        past: [...data.past].map((execution) => encodeExecution(execution, steps)),
        lastSeq: data.lastSeq,
        owesEvents: data.owesEvents,
      });
    },
    decode: (data) => {
      const store = data.value('store', MessageStore.fromJSON);
      const steps = createStepCodec(step, byId(store));
      const readExecution = (item: unknown, path: string): Execution<S> => decodeExecution(item, path, steps);
      const unknownFields = data.rest(knownFields);
      return build({
        info: data.value('info', StateInfo.fromJSON),
        agentId: data.string('agentId'),
        parentAgentId: data.optionalString('parentAgentId'),
        store,
        metadata: data.jsonObject('metadata'),
        execution: data.value('execution', readExecution),
        past: AppendOnlyList.from(data.array('past', readExecution)),
        lastSeq: data.number('lastSeq'),
        owesEvents: data.optionalBoolean('owesEvents'),
        unknownFields: Object.keys(unknownFields).length === 0 ? undefined : unknownFields,
      });
    },
  });
}
