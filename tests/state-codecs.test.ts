// One suite for the codecs of all four orchestrators, over conversations with all there is to store.
import { describe, test } from 'vitest';
import { ChatState } from '../src/chat/index.ts';
import { CollaborationState } from '../src/collaboration/index.ts';
import { AgentState, ToolUseState } from '../src/entry/index.ts';
import { stateCodecConformance } from '../src/testing/index.ts';
import { chatUntilTheEnd, collaborationUntilTheEnd } from './golden/conversations.ts';
import { conversation, toolUseUntilTheEnd } from './golden/runs.ts';

describe.each([
  ['ToolUse', stateCodecConformance(async () => ({ codec: ToolUseState.codec, states: await toolUseUntilTheEnd() }))],
  ['Agent', stateCodecConformance(async () => ({ codec: AgentState.codec, states: await conversation() }))],
  ['Chat', stateCodecConformance(async () => ({ codec: ChatState.codec, states: (await chatUntilTheEnd()).states }))],
  ['Collaboration', stateCodecConformance(async () => ({ codec: CollaborationState.codec, states: await collaborationUntilTheEnd() }))],
])('the codec of %s', (_, suite) => {
  test.each(suite)('$name', ({ run }) => run());
});
