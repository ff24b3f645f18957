// What holds for the payload of every state under every config.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pickRuns } from '../../../tests/support/test-scale.ts';
import { ContinuationOutcome } from '../../continuation/index.ts';
import type { Json } from '../../lib/index.ts';
import { AppendOnlyList, createFakeClock, isRecord } from '../../lib/index.ts';
import type { Part, ToolOutput } from '../../messages/index.ts';
import { Message, MessageRole, toolCallPart, toolResultPart, Usage } from '../../messages/index.ts';
import type { PendingStep } from '../../step-by-step/index.ts';
import { StepResult } from '../../step-by-step/index.ts';
import type { ToolUseStep } from '../../tool-use/index.ts';
import { AgentState } from '../index.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import { argsLeftOut, resultLeftOut } from './slim-message.ts';
import type { SlimPayload } from './slim-payload.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

// Random states: texts with secrets, half characters and long ones in them, results without calls, calls without results.

const secret = ['sk', 'proj-abcdefghijklmnop1234'].join('-');
const part = secret.slice(3, 15);
const piece = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('\ud800', '\udc00', '😀', '\0', ` ${secret} `, `{"password":"${secret}"}`, 'x'.repeat(60)),
);
const words = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    words,
    fc.double(),
    fc.constantFrom(null, true, -0, NaN),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(words, fc.constantFrom('api_key', '__proto__')), tie('value'), { maxKeys: 3 }),
  ),
})).value;
const fields = fc.dictionary(fc.oneof(fc.string({ maxLength: 4 }), fc.constant('token'), fc.constant(` ${secret} `)), json, { maxKeys: 3 });
const plantedArgs = 'planted-argument';
const plantedResult = 'planted-result';
const args = fc.oneof(json, fc.constant({ q: plantedArgs }));
const callId = fc.constantFrom('1', '2', '3', '4');
const output: fc.Arbitrary<ToolOutput> = fc.oneof(
  fc.constantFrom<ToolOutput>({ type: 'text', value: plantedResult }, { type: 'json', value: [plantedResult] }),
  words.map((value) => ({ type: 'text', value }) as const),
  json.map((value) => ({ type: 'json', value }) as const),
  words.map((value) => ({ type: 'error', value }) as const),
  words.map((reason) => ({ type: 'rejected', reason }) as const),
);
const messagePart: fc.Arbitrary<Part> = fc.oneof(
  words.map((text) => ({ type: 'text', text }) as const),
  words.map((text) => ({ type: 'reasoning', text }) as const),
  fc.record({ id: callId, args }).map(({ id, args }) => toolCallPart({ id, name: 'work', args })),
  fc
    .record({ id: callId, rawArgs: fc.oneof(words, fc.constant(`{${plantedArgs}`)) })
    .map(({ id, rawArgs }) => toolCallPart({ id, name: 'work', args: null, rawArgs })),
  fc.record({ id: callId, output }).map((given) => toolResultPart({ toolCallId: given.id, toolName: 'work', output: given.output })),
  words.map((data) => ({ type: 'image', data }) as const),
  words.map((filename) => ({ type: 'file', id: filename, mediaType: 'text/plain', filename }) as const),
  fc.record({ url: words, title: words }).map((given) => ({ type: 'source', sourceType: 'url', id: 's', ...given }) as const),
);
const message = fc
  .record({
    role: fc.constantFrom(...Object.values(MessageRole)),
    parts: fc.array(messagePart, { maxLength: 3 }),
    purpose: fc.constantFrom('observation', 'action', 'undecided', undefined),
    metadata: fields,
  })
  .map(({ role, parts, purpose, metadata }) =>
    Message.of(role, parts, { metadata: { ...metadata, ...(purpose !== undefined && { purpose }) } }),
  );
const call = fc.record({ id: callId, name: fc.constantFrom('work', ` ${secret} `), args });
const step: fc.Arbitrary<ToolUseStep> = fc
  .record({ outputMessages: fc.array(message, { maxLength: 2 }), toolCalls: fc.array(call, { maxLength: 2 }), failure: words })
  .map(({ outputMessages, toolCalls, failure }) => ({
    id: 's',
    outputMessages,
    usage: Usage.of({ input: 1, output: 2 }),
    errors: [{ type: 'tool', code: 'broken', message: failure, retryable: false }],
    stepType: 'error',
    toolCalls,
    executions: [],
    finishReason: failure,
  }));
const timing = { startedAt: 0, endedAt: 9, activeMs: 5, waitedMs: 1 };
const outcome = words.map((reason) =>
  ContinuationOutcome.fromEvaluations([{ criterion: 'Mine', decision: 'forbid', reason, context: { [reason]: reason } }]),
);
const pending = (number: number) =>
  fc.record({ partial: step, args, prompt: words }).map(({ partial, args, prompt }): PendingStep<ToolUseStep> => ({
    number,
    partial,
    waits: [
      { type: 'approval', id: 'w', toolName: 'work', args, problem: prompt },
      { type: 'person', id: 'p', prompt },
    ],
    answers: [],
    startedAt: 0,
    parkedAt: 1,
    activeMs: 1,
    waitedMs: 0,
  }));
const clock = createFakeClock();
const state = fc
  .record({
    messages: fc.array(message, { maxLength: 12 }),
    queued: fc.array(message, { maxLength: 2 }),
    steps: fc.array(fc.record({ step, outcome }), { maxLength: 5 }),
    metadata: fields,
    agentId: words,
    ending: fc.constantFrom('recorded', 'judged', 'waiting'),
  })
  .chain((given) => fc.record({ given: fc.constant(given), pending: pending(given.steps.length + 1), candidate: step }))
  .map(({ given, pending: pendingStep, candidate }) => {
    const { data } = AgentState.empty({ clock, agentId: given.agentId, metadata: given.metadata }).withMessages(given.messages);
    const results = AppendOnlyList.from(given.steps.map((taken, index) => new StepResult({ ...taken, number: index + 1, timing })));
    const ending = given.ending === 'waiting' ? { pendingStep, queued: given.queued } : given.ending === 'judged' ? { candidate } : {};
    return new AgentState({ ...data, execution: { ...data.execution, id: 'e', results, ...ending } });
  });
const config = fc.oneof(
  fc.constantFrom(SlimSerializationConfig.minimal(), SlimSerializationConfig.standard(), SlimSerializationConfig.full()),
  fc
    .record({
      maxMessages: fc.integer({ min: 0, max: 8 }),
      maxContentLength: fc.integer({ min: 1, max: 40 }),
      maxSteps: fc.integer({ min: 0, max: 4 }),
      includeAllSteps: fc.boolean(),
      includeToolArgs: fc.boolean(),
      includeToolResults: fc.boolean(),
      includeMetadata: fc.boolean(),
      includeContinuationTrace: fc.boolean(),
    })
    .map((options) => new SlimSerializationConfig(options)),
);

function everyState(
  check: (payload: SlimPayload, given: { readonly state: AgentState; readonly config: SlimSerializationConfig }) => void,
): void {
  fc.assert(
    fc.property(state, config, (given, shown) => {
      check(new SlimAgentStateSerializer(shown).serialize(given), { state: given, config: shown });
    }),
    { numRuns: pickRuns({ quick: 80, slow: 1000 }) },
  );
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isRecord(value) ? Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item)]) : [];
}

const lengthOf = (text: string): number => [...text].length;

describe('the payload of every state', () => {
  test('is what JSON makes of it, and is read as it was written', () => {
    everyState((payload, { config: shown }) => {
      const written: unknown = JSON.parse(JSON.stringify(payload));
      expect(written).toStrictEqual(payload);
      const view = new SlimAgentStateSerializer(shown).deserialize(written);
      expect(view.payload).toStrictEqual(payload);
      expect([view.messages, view.steps, view.currentStep ?? null, view.waitingFor, view.lastContinuation ?? null]).toStrictEqual([
        payload.messages,
        payload.steps,
        payload.current_step,
        payload.waiting_for,
        payload.last_continuation,
      ]);
    });
  });

  test('has no half characters and no secret, not even a part of one', () => {
    everyState((payload) => {
      for (const text of textsIn(payload)) expect(text).not.toMatch(/\p{Surrogate}/u);
      expect(JSON.stringify(payload)).not.toContain(part);
    });
  });

  test('has no more messages, steps and words than its config lets it', () => {
    everyState((payload, { state: given, config: shown }) => {
      const { maxMessages, maxContentLength: max, maxSteps, includeAllSteps, includeMetadata } = shown;
      expect(payload.messages.length).toBeLessThanOrEqual(maxMessages);
      expect(payload.steps).toHaveLength(includeAllSteps ? given.stepCount : Math.min(maxSteps, given.stepCount));
      const texts = payload.messages.flatMap(({ content, reasoning = '', tool_calls = [], tool_results = [], attachments = [] }) => [
        content,
        reasoning,
        ...tool_calls.map(({ args, args_text = '' }) => (args === undefined ? args_text : JSON.stringify(args))),
        ...tool_results.map((result) => result.content),
        ...attachments.flatMap(({ filename = '', title = '', url = '' }) => [filename, title, url]),
      ]);
      const notes = payload.current_step?.errors.map((failure) => failure.message ?? '') ?? [];
      const trace = payload.steps.flatMap(({ evaluations = [] }) => evaluations.map(({ reason }) => reason));
      for (const text of [...texts, ...notes, ...trace]) {
        // A fixed text is as long as it is.
        if (text !== resultLeftOut && text !== argsLeftOut) expect(lengthOf(text)).toBeLessThanOrEqual(max);
      }
      expect(payload.metadata === null).toBe(!includeMetadata);
      const metadata = [payload.metadata ?? {}, ...payload.messages.map((shownMessage) => shownMessage.metadata ?? {})];
      for (const noted of metadata) expect(lengthOf(JSON.stringify(noted))).toBeLessThanOrEqual(Math.max(2, max));
    });
  });

  test('has no arguments and no results where they are left out', () => {
    everyState((payload, { config: shown }) => {
      if (!shown.includeToolArgs) expect(JSON.stringify(payload)).not.toContain(plantedArgs);
      if (!shown.includeToolResults) expect(JSON.stringify(payload)).not.toContain(plantedResult);
    });
  });

  test('has each tool result behind its call, and true numbers', () => {
    everyState((payload, { state: given, config: shown }) => {
      const called = new Set<string>();
      for (const { tool_calls = [], tool_results = [] } of payload.messages) {
        for (const { id } of tool_calls) called.add(id);
        for (const { tool_call_id } of tool_results) expect(called).toContain(tool_call_id);
        if (!shown.includeToolArgs) for (const shownCall of tool_calls) expect(Object.keys(shownCall)).toEqual(['id', 'name']);
        if (!shown.includeToolResults) for (const { content } of tool_results) expect(content).toBe(resultLeftOut);
      }
      const numbers = payload.steps.map(({ step_number }) => step_number);
      expect(numbers).toEqual(numbers.map((_, index) => given.stepCount - numbers.length + index + 1));
      expect(payload.omitted.messages).toBe(given.messages.length + (given.execution.queued ?? []).length - payload.messages.length);
    });
  });
});
