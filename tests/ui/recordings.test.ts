// No message of a view has the arguments or the result of a call as its text: over every recording of real provider traffic.
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/broadcasting/index.ts';
import { AgentEventEnvelopeAdapter } from '../../src/broadcasting/index.ts';
import { createAgent, defineTool, ErrorPolicy } from '../../src/entry/index.ts';
import { aiSdk } from '../../src/inference/ai-sdk/index.ts';
import type { Model, ModelDelta, ModelOutcome } from '../../src/inference/index.ts';
import { createCountingIds, createFakeClock } from '../../src/lib/index.ts';
import { readRecording } from '../../src/testing/node/index.ts';
import { createView, reduceAll } from '../../src/ui/index.ts';
import type { DrivenCall } from '../support/recordings/drive-recording.ts';
import { driveRecording } from '../support/recordings/drive-recording.ts';
import { findRecordings, listRecordings } from '../support/recordings/find-recordings.ts';

const recordings = findRecordings(join(import.meta.dirname, '../..'));
const files = recordings.found ? [...listRecordings(recordings.folder, 'single'), ...listRecordings(recordings.folder, 'loops')] : [];

const result = { found: ['a result', { deep: true }], count: 2 };

/** Gives the answers of a recording again, one for each step. */
function createReplay(calls: readonly DrivenCall[]): Model {
  let next = 0;
  const take = (onDelta: (delta: ModelDelta) => void): Promise<ModelOutcome> => {
    const call = calls[Math.min(next, calls.length - 1)]!;
    next += 1;
    for (const delta of call.deltas) onDelta(delta);
    return Promise.resolve(call.outcome);
  };
  return { provider: 'replay', modelId: 'replay', generate: () => take(() => undefined), stream: (_request, onDelta) => take(onDelta) };
}

/** Runs an agent on the answers of a recording, and returns all envelopes, text included. */
async function runReplay(
  calls: readonly DrivenCall[],
): Promise<{ readonly envelopes: readonly Envelope[]; readonly json: readonly string[] }> {
  const parts = calls.flatMap(({ outcome }) => (outcome.ok ? outcome.response : outcome.partial).parts);
  const asked = parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  const tools = [...new Set(asked.map(({ toolName }) => toolName))]
    .filter((name) => /^[\w-]{1,64}$/.test(name))
    .map((name) => defineTool({ name, description: 'Does it.', input: { type: 'object' }, run: () => result }));
  const ports = { clock: createFakeClock(), ids: createCountingIds(), onProblem: () => undefined };
  const agent = createAgent({
    model: createReplay(calls),
    tools,
    ports,
    limits: { steps: calls.length },
    errors: ErrorPolicy.ignoreToolErrors(),
  });
  const envelopes: Envelope[] = [];
  const send = (_channel: string, sent: readonly Envelope[]): void => void envelopes.push(...sent);
  const adapter = new AgentEventEnvelopeAdapter({ send }, { preset: 'debug', maxBytes: 1_000_000, clock: ports.clock });
  agent.wiretap(adapter.broadcast);
  await agent.start('Go on.').result;
  const values: unknown[] = [...asked.map(({ args }) => args), result];
  const json = values.flatMap((value) => [JSON.stringify(value), JSON.stringify(value, null, 2)]).filter((text) => text.length > 4);
  return { envelopes, json };
}

describe('recordings', () => {
  it.skipIf(!recordings.found)(recordings.found ? 'are there' : recordings.reason, () => {
    expect(files.length).toBeGreaterThan(50);
  });

  it.each(files.map((file) => [basename(file), file] as const))('show no JSON of a call: %s', async (_name, file) => {
    const calls = await driveRecording(readRecording(file), aiSdk);
    if (calls.length === 0) return;
    const { envelopes, json } = await runReplay(calls);
    const sessionId = envelopes[0]?.session_id ?? '';
    expect(reduceAll(createView(sessionId), envelopes).status).not.toBe('in_progress');
    // In the middle of each step as well as at its end.
    for (const count of [envelopes.length, ...envelopes.keys()]) {
      if (count !== envelopes.length && envelopes[count]?.event !== 'agent.stream.chunk' && count % 5 !== 0) continue;
      const { messages } = reduceAll(createView(sessionId), envelopes.slice(0, count));
      for (const { text } of messages) for (const each of json) expect(text).not.toContain(each);
    }
  });
});
