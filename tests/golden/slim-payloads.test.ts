// Slim payloads that were written once are read by every later version, and written the same way.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AgentState, SlimAgentStateSerializer, SlimSerializationConfig } from '../../src/entry/index.ts';

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
const serializer = (config: SlimSerializationConfig): SlimAgentStateSerializer => new SlimAgentStateSerializer(config);

test.each([
  ['agent-state.1.json', 'slim-agent-state.1.json'],
  ['agent-state.waiting.1.json', 'slim-agent-state.waiting.1.json'],
])('the full payload of %s is %s, and the other way round', (stored, golden) => {
  const state = AgentState.fromJSON(read(stored));
  const full = serializer(SlimSerializationConfig.full());
  expect(full.serialize(state)).toEqual(read(golden));
  expect(JSON.stringify(full.deserialize(read(golden)))).toBe(JSON.stringify(state));
});

test('the standard payload of a state that waits is as it was, and is read as a state', () => {
  const state = AgentState.fromJSON(read('agent-state.waiting.1.json'));
  const standard = serializer(SlimSerializationConfig.standard());
  const golden = read('slim-agent-state.lossy.1.json');
  expect(standard.serialize(state)).toEqual(golden);
  expect(standard.deserialize(golden).waitingFor.map(({ id }) => id)).toEqual(['call-4', 'call-3']);
});
