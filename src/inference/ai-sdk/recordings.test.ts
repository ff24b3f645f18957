// Every recording of real provider traffic, replayed through the real provider packages over HTTP, and held against the
// promises of the Model port. What a recorded answer says is read a second time, by code that knows nothing of ours.
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Failure } from '../../errors/index.ts';
import { isRecord, stableStringify } from '../../lib/index.ts';
import type { Part, ToolOutput, ToolResult } from '../../messages/index.ts';
import { readPart, Usage } from '../../messages/index.ts';
import type { DrivenCall } from '../../../tests/support/recordings/drive-recording.ts';
import type { Recording } from '../../testing/node/index.ts';
import { driveRecording } from '../../../tests/support/recordings/drive-recording.ts';
import { findRecordings, listRecordings } from '../../../tests/support/recordings/find-recordings.ts';
import { readRecording, detectWireApi } from '../../testing/node/index.ts';
import { sdkLimits } from '../../../tests/support/recordings/sdk-limits.ts';
import type { ModelResponse } from '../index.ts';
import { findPendingToolCalls } from '../index.ts';
import { aiSdk } from './index.ts';

const root = join(import.meta.dirname, '../../..');
const recordings = findRecordings(root);
const replayed = new Map<string, readonly string[]>();

const getResponse = ({ outcome }: DrivenCall): ModelResponse => (outcome.ok ? outcome.response : outcome.partial);
const textIn = (parts: readonly Part[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const removeSpaces = (text: string): string => text.replace(/\s+/g, '');
const repeatsCall = (text: string, { calls }: DrivenCall['answer']): boolean =>
  calls.some(({ args }) => args !== undefined && removeSpaces(JSON.stringify(args)) === removeSpaces(text));

function isRefused({ interaction }: DrivenCall): boolean {
  return interaction.response.status >= 400;
}

// M1, M2, M3, M6: one outcome; an error or an answer that broke off is a failure, and so is one that says nothing.
function checkOutcome(call: DrivenCall): void {
  const { outcome, answer } = call;
  if (isRefused(call) || answer.isBroken) {
    expect(outcome.ok, 'a failed answer is a failure').toBe(false);
    return;
  }
  if (outcome.ok) return;
  expect(outcome.failure.code, outcome.failure.message).toBe('empty-response');
  expect(answer.calls).toEqual([]);
  expect(answer.text.trim()).toBe('');
}

// Literal on purpose: what a status means is said here once more, by nothing that the adapter uses.
const refusals: readonly (readonly [status: number, expected: Partial<Failure>])[] = [
  [402, { type: 'rate_limit' }],
  [408, { type: 'timeout', retryable: true }],
  [425, { type: 'model', retryable: true }],
  [429, { type: 'rate_limit' }],
  [504, { type: 'timeout', retryable: true }],
  [529, { type: 'rate_limit', retryable: true }],
];

function toRefusal(status: number): Partial<Failure> {
  return refusals.find(([each]) => each === status)?.[1] ?? { type: 'model', retryable: status >= 500 };
}

// M8 and the table of failures.
function checkRefusal({ outcome, interaction: { response } }: DrivenCall): void {
  const failure = outcome.ok ? undefined : outcome.failure;
  expect(failure).toMatchObject(toRefusal(response.status));
  const seconds = Number(response.headers['retry-after']);
  expect(failure?.retryAfterMs).toBe(failure?.retryable === true && seconds >= 0 ? Math.ceil(seconds * 1000) : undefined);
}

// M4, M5: the calls are those of the answer, each under an id of its own, and none of their arguments is taken for text.
function checkCalls(call: DrivenCall): void {
  const { parts } = getResponse(call);
  const pending = findPendingToolCalls({ parts });
  const expected = call.answer.calls.filter(({ id, isCertain = true }) => isCertain || pending.some((each) => each.id === id));
  expect(pending.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
  for (const [index, { id, args }] of expected.entries()) {
    if (id !== undefined) expect(pending[index]?.id).toBe(id);
    if (args !== undefined) expect(stableStringify(pending[index]?.args ?? null)).toBe(stableStringify(args as never));
  }
  const ids = parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).not.toContain('');
}

function checkText(call: DrivenCall): void {
  const [ours, theirs] = [textIn(getResponse(call).parts), call.answer.text];
  if (ours === '' && repeatsCall(theirs, call.answer)) return;
  expect(ours).toBe(theirs);
  // Under A2, what was told on the way is what stands at the end.
  const told = call.deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');
  if (call.isStream) expect(told).toBe(ours);
}

// M7: nothing is lost, nothing is counted twice, and what was not told is unknown.
function checkUsage(call: DrivenCall): void {
  const { usage } = getResponse(call);
  const reported = call.answer.usage;
  expect(usage.total).toBe(usage.input + usage.output);
  expect(usage.reasoning ?? 0).toBeLessThanOrEqual(usage.output);
  expect(usage.unknownCalls ?? 0).toBe(reported?.input === undefined || reported.output === undefined ? 1 : 0);
  expect({ input: usage.input, output: usage.output }).toEqual({ input: reported?.input ?? 0, output: reported?.output ?? 0 });
  const { cacheRead, reasoning } = reported ?? {};
  if (cacheRead !== undefined) expect(usage.cacheRead ?? 0).toBe(cacheRead);
  if (reasoning !== undefined) expect(usage.reasoning ?? 0).toBe(reasoning);
}

// M9: whatever came can be stored and read again as it is.
function checkParts(call: DrivenCall): void {
  const { parts } = getResponse(call);
  const stored: unknown = JSON.parse(JSON.stringify(parts));
  expect(stored).toEqual(parts);
  for (const part of stored as readonly unknown[]) expect(readPart(part, 'part')).toEqual(part);
}

// Two alphabets of base64 are in use for the same signature.
const sameAlphabet = (text: string): string => text.replaceAll('-', '+').replaceAll('_', '/');

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [sameAlphabet(value)];
  return Array.isArray(value) || isRecord(value) ? Object.values(value).flatMap(textsIn) : [];
}

// M10: what a provider signed comes back to it with the next request.
function checkSignatures(call: DrivenCall, next: DrivenCall | undefined): void {
  const kept = new Set(textsIn(getResponse(call).parts));
  const sent = new Set(textsIn(next?.sent?.body));
  const said = JSON.stringify(getResponse(call).parts);
  const goesOn = next?.request.messages.some((message) => message.isAssistant() && JSON.stringify(message.parts) === said) === true;
  for (const signature of call.answer.signatures.map(sameAlphabet)) {
    expect(kept.has(signature), 'a signature is kept').toBe(true);
    if (goesOn) expect(sent.has(signature), 'a signature is sent back').toBe(true);
  }
}

const comparable = (output: ToolOutput): unknown =>
  output.type === 'content'
    ? output.parts.map((part) => (part.type === 'text' ? part : (part.data ?? part.url ?? ('id' in part ? part.id : undefined))))
    : output;
const byId = (left: ToolResult, right: ToolResult): number => left.toolCallId.localeCompare(right.toolCallId);

// The requests that we send carry the results that were recorded, call by call.
function checkResults(call: DrivenCall, api: string): void {
  if (call.interaction.request === undefined) return;
  const [sent, recorded] = [call.sentResults.toSorted(byId), call.recordedResults.toSorted(byId)];
  expect(sent.map(({ toolCallId }) => toolCallId)).toEqual(recorded.map(({ toolCallId }) => toolCallId));
  for (const [index, { output }] of recorded.entries()) {
    const ours = sent[index]?.output;
    const limit = sdkLimits.find((each) => each.api === api && each.applies(output));
    if (limit === undefined) expect(ours && comparable(ours)).toEqual(comparable(output));
    else expect(ours !== undefined && limit.isSentAs(ours, output), limit.reason).toBe(true);
  }
}

// Why a request of a loop may leave our own answers out. What fits none of these is named by its place.
const restartReasons: readonly { readonly reason: string; readonly applies: (call: DrivenCall) => boolean }[] = [
  {
    reason: 'another conversation begins',
    applies: ({ request }) => !request.messages.some((message) => message.isAssistant()),
  },
];

function restartsIn(file: string, calls: readonly DrivenCall[]): readonly string[] {
  return calls.flatMap((call, index) => {
    if (!call.restarted || !call.outcome.ok) return [];
    return [restartReasons.find(({ applies }) => applies(call))?.reason ?? `${basename(file)}#${index}`];
  });
}

async function replay(file: string): Promise<void> {
  const recording = readRecording(file);
  const api = detectWireApi(recording);
  const calls = await driveRecording(recording, aiSdk);
  expect(calls.length).toBeGreaterThan(0);
  expect(calls).toHaveLength(recording.interactions.length);
  for (const [index, call] of calls.entries()) {
    expect(call.sent, call.outcome.ok ? '' : call.outcome.failure.message).toBeDefined();
    checkOutcome(call);
    checkResults(call, api);
    checkParts(call);
    if (isRefused(call)) checkRefusal(call);
    if (isRefused(call) || call.answer.isBroken) continue;
    checkCalls(call);
    checkText(call);
    checkUsage(call);
    checkSignatures(call, calls[index + 1]);
  }
  replayed.set(file, restartsIn(file, calls));
}

if (recordings.found) {
  const loops = listRecordings(recordings.folder, 'loops');
  const files = [...listRecordings(recordings.folder, 'single'), ...loops];
  describe('recordings of real providers', () => {
    it.each(files.map((file) => [basename(file), file]))('%s', async (_, file) => {
      await replay(file);
    });
    it('were all replayed', () => {
      expect(files.length).toBeGreaterThan(0);
      expect(replayed.size).toBe(files.length);
    });
    it('go on from our own answers, all but one', () => {
      expect(loops.flatMap((file) => replayed.get(file) ?? [])).toEqual(['another conversation begins']);
    });
  });
} else {
  describe('recordings of real providers', () => {
    it.skip(`are not here: ${recordings.reason}`, () => {});
  });
}

describe('the checks of recordings', () => {
  const answer = {
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Said once.' } }],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12, prompt_tokens_details: { cached_tokens: 3 } },
  };
  const recording: Recording = {
    name: 'made-up',
    provider: 'openai',
    interactions: [{ response: { status: 200, headers: { 'content-type': 'application/json' }, body: answer } }],
  };
  const changeResponse = (call: DrivenCall, change: Partial<ModelResponse>): DrivenCall => ({
    ...call,
    outcome: { ok: true, response: { ...getResponse(call), ...change } },
  });

  it('fail where a text or a count is told twice, or a count is lost', async () => {
    const calls = await driveRecording(recording, aiSdk);
    expect(calls).toHaveLength(1);
    for (const call of calls) {
      const doubled = changeResponse(call, { parts: [...getResponse(call).parts, ...getResponse(call).parts] });
      checkText(call);
      checkUsage(call);
      expect(() => checkText(doubled)).toThrow(/Said once/);
      expect(() => checkUsage(changeResponse(call, { usage: Usage.of({ input: 14, output: 10, cacheRead: 3 }) }))).toThrow(/14/);
      expect(() => checkUsage(changeResponse(call, { usage: Usage.of({ input: 7, output: 5 }) }))).toThrow(/3/);
    }
  });
});

afterAll(() => {
  replayed.clear();
});
