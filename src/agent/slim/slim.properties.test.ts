// What holds for the payload of every state under every config.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plantedArgs, plantedResult, randomStates, secret } from '../../../tests/support/random-states.ts';
import { pickRuns } from '../../../tests/support/test-scale.ts';
import { isRecord } from '../../lib/index.ts';
import { AgentState } from '../index.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import { argsLeftOut, resultLeftOut } from './slim-message.ts';
import type { LossySlimPayload, SlimPayload } from './slim-payload.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

const state = randomStates('with secrets');
const part = secret.slice(3, 15);

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
  check: (payload: LossySlimPayload, given: { readonly state: AgentState; readonly config: SlimSerializationConfig }) => void,
): void {
  fc.assert(
    fc.property(state, config, (given, shown) => {
      const payload: SlimPayload = new SlimAgentStateSerializer(shown).serialize(given);
      if (payload.resumable === 'lossy') check(payload, { state: given, config: shown });
    }),
    { numRuns: pickRuns({ quick: 80, slow: 1000 }) },
  );
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isRecord(value) ? Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item)]) : [];
}

const countCharacters = (text: string): number => [...text].length;

describe('the payload of every state', () => {
  test('is what JSON makes of it, and is read as a state that runs could continue', () => {
    everyState((payload, { state: given, config: shown }) => {
      const written: unknown = JSON.parse(JSON.stringify(payload));
      expect(written).toStrictEqual(payload);
      const restored = new SlimAgentStateSerializer(shown).deserialize(written);
      expect(restored).toBeInstanceOf(AgentState);
      expect([restored.agentId, restored.id, restored.usage.total]).toEqual([payload.agent_id, payload.session_id, given.usage.total]);
      expect(restored.stepCount).toBe(given.execution.results.length);
      expect(restored.info).toMatchObject({
        startedAt: given.info.startedAt,
        cumulativeExecutionSeconds: given.info.cumulativeExecutionSeconds,
      });
      expect(restored.messages.length).toBe(payload.messages.filter(({ queued }) => queued !== true).length);
      expect(restored.metadata).toEqual(payload.metadata ?? {});
      expect(restored.explain()).toContain('This state was read from a slim payload');
      // It can be stored like any other.
      expect(JSON.stringify(AgentState.fromJSON(JSON.parse(JSON.stringify(restored))))).toBe(JSON.stringify(restored));
    });
  });

  test('keeps the status, the stop reason and the waits', () => {
    everyState((payload, { state: given, config: shown }) => {
      const restored = new SlimAgentStateSerializer(shown).deserialize(payload);
      expect([restored.status, restored.stopReason]).toEqual([given.status, given.stopReason]);
      expect(restored.waitingFor.map(({ id, type }) => [id, type])).toEqual(given.waitingFor.map(({ id, type }) => [id, type]));
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
        if (text !== resultLeftOut && text !== argsLeftOut) expect(countCharacters(text)).toBeLessThanOrEqual(max);
      }
      expect(payload.metadata === null).toBe(!includeMetadata);
      const metadata = [payload.metadata ?? {}, ...payload.messages.map((shownMessage) => shownMessage.metadata ?? {})];
      for (const noted of metadata) expect(countCharacters(JSON.stringify(noted))).toBeLessThanOrEqual(Math.max(2, max));
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

describe('the full payload of every state without secrets', () => {
  const serializer = new SlimAgentStateSerializer(SlimSerializationConfig.full());
  const plain = randomStates('plain');
  const runs = { numRuns: pickRuns({ quick: 150, slow: 3000 }) };

  test('gives back the same state', () => {
    fc.assert(
      fc.property(plain, (given) => {
        const payload = serializer.serialize(given);
        expect(payload.resumable).toBe(true);
        expect(JSON.parse(JSON.stringify(payload))).toStrictEqual(payload);
        const stored = AgentState.fromJSON(JSON.parse(JSON.stringify(given)));
        expect(JSON.stringify(serializer.deserialize(payload))).toBe(JSON.stringify(stored));
      }),
      runs,
    );
  });

  test('is not larger than the JSON of the state', () => {
    fc.assert(
      fc.property(plain, (given) => {
        expect(JSON.stringify(serializer.serialize(given)).length).toBeLessThanOrEqual(JSON.stringify(given).length);
      }),
      runs,
    );
  });
});
