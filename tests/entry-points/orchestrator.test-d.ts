import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type {
  Agent,
  AgentEvent,
  AgentState,
  InferContext,
  InferEvent,
  InferOutput,
  InferState,
  Model,
  Orchestrator,
  Run,
  RunResult,
} from '../../src/entry/index.ts';
import { AgentBuilder, defineContext, createAgent, defineTool, ToolUse } from '../../src/entry/index.ts';
import type { ChatState } from '../../src/chat/index.ts';
import { createChat, llmParticipant, scriptedParticipant } from '../../src/chat/index.ts';
import { createCollaboration, llmCollaborator, scriptedCollaborator } from '../../src/collaboration/index.ts';
import type { BaseEvent } from '../../src/events/index.ts';
import type { RunState } from '../../src/step-by-step/index.ts';

declare const model: Model;
const input = z.object({ name: z.string() });
const find = defineTool({ name: 'find', description: 'A tool.', input, context: defineContext<{ db: string }>(), run: ({ name }) => name });
const who = defineTool({ name: 'who', description: 'A tool.', input, context: defineContext<{ user: number }>(), run: ({ name }) => name });

const plain = createAgent({ model });
const needy = createAgent({ model, tools: { find }, output: z.object({ id: z.string() }) });
const other = AgentBuilder.base().withModel(model).withTools({ who }).build();
const chat = createChat({ participants: [scriptedParticipant({ name: 'a', says: ['x'] })] });
const needyChat = createChat({ participants: [llmParticipant({ name: 'b', model, tools: { find } })] });
const collaboration = createCollaboration({ collaborators: [scriptedCollaborator({ name: 'a', says: ['x'] })] });
const needyCollaboration = createCollaboration({ collaborators: [llmCollaborator({ name: 'b', model, tools: { who } })] });
const toolUse = new ToolUse({ model });
const needyToolUse = new ToolUse({ model, tools: { find } });

test('everything that runs is an Orchestrator, whatever context it needs', async () => {
  const all: readonly Orchestrator[] = [plain, needy, other, chat, needyChat, collaboration, needyCollaboration, toolUse, needyToolUse];
  const [one] = all;
  if (one === undefined) return;
  expectTypeOf(one.id).toBeString();
  expectTypeOf(one.start('x', { context: { db: 'x' } })).toEqualTypeOf<Run>();
  expectTypeOf(await one.toResult(one.states.empty())).toEqualTypeOf<RunResult>();
  one.onEvent('TextDelta', (event) => expectTypeOf(event).toEqualTypeOf<BaseEvent>());
  one.start('x', { onEvent: (event) => expectTypeOf(event).toEqualTypeOf<BaseEvent>() });
});

test('every agent is an Agent', () => {
  const all: readonly Agent[] = [plain, needy, other];
  all[0]?.onEvent('TextDelta', ({ text }) => expectTypeOf(text).toBeString());
  // @ts-expect-error -- a chat is not an agent
  const wrong: Agent = chat;
  wrong;
});

test('an orchestrator is not one of another kind of state', () => {
  // @ts-expect-error -- a chat has no AgentState
  const wrong: Orchestrator<AgentState> = chat;
  wrong;
});

test('its types can be inferred, of several together', () => {
  type Both = typeof needy | typeof other;
  expectTypeOf<InferContext<typeof plain>>().toBeUnknown();
  expectTypeOf<InferContext<Both>>().toExtend<{ db: string; user: number }>();
  expectTypeOf<InferOutput<Both>>().toEqualTypeOf<{ id: string } | undefined>();
  expectTypeOf<InferState<typeof needy | typeof chat>>().toEqualTypeOf<AgentState | ChatState>();
  expectTypeOf<InferEvent<typeof plain>>().toEqualTypeOf<AgentEvent<readonly []>>();
});
