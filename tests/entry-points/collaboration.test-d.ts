import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { Failure, Model, RunResult, StopReason, Wait } from '../../src/entry/index.ts';
import { defineContext, createAgent, defineTool, when } from '../../src/entry/index.ts';
import type { Participant, UnfinishedTurn } from '../../src/chat/index.ts';
import { agentParticipant } from '../../src/chat/index.ts';
import type {
  TurnChange,
  Approval,
  Artifact,
  Board,
  BoardChange,
  CollaborationEvent,
  CollaborationStep,
  ContributionInput,
  Contribution,
  Fit,
} from '../../src/collaboration/index.ts';
import {
  agentCollaborator,
  BoardTool,
  CollaborationState,
  createCollaboration,
  functionCollaborator,
  humanCollaborator,
  llmCollaborator,
  scriptedCollaborator,
} from '../../src/collaboration/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import type { SessionStore } from '../../src/sessions/index.ts';

declare const model: Model;
declare const store: SessionStore;

const db = defineTool({
  name: 'db',
  description: 'A tool.',
  input: z.object({ key: z.string() }),
  context: defineContext<{ readonly db: string }>(),
  run: (_args, { context }) => context.db,
});
const writer = llmCollaborator({ name: 'writer', model });
const clerk = llmCollaborator({ name: 'clerk', model, tools: { db } });
const boss = humanCollaborator({ name: 'boss' });
const tenantOf = functionCollaborator({
  name: 'tenant',
  context: defineContext<{ readonly tenant: string }>(),
  speak: ({ context, state, participant }) => {
    expectTypeOf(context).toEqualTypeOf<{ readonly tenant: string }>();
    expectTypeOf(state).toEqualTypeOf<CollaborationState>();
    expectTypeOf(participant).toBeString();
    return { text: context.tenant, writes: { note: 'x' } };
  },
});

test('a collaboration without needs runs without a context, and gives states, results and boards', async () => {
  const collaboration = createCollaboration({
    collaborators: [writer, boss, scriptedCollaborator({ name: 'lead', says: ['Go.', { handoff: { to: 'boss', reason: 'look' } }] })],
    done: { approvedBy: ['boss'], artifact: 'draft', schema: z.object({ price: z.number() }) },
  });
  const state = await collaboration.run(CollaborationState.empty().withUserMessage('Go.').withArtifact('draft', 'x'));
  expectTypeOf(state).toEqualTypeOf<CollaborationState>();
  expectTypeOf(state.board).toEqualTypeOf<Board>();
  expectTypeOf(state.board.get('draft')).toEqualTypeOf<Artifact | undefined>();
  expectTypeOf(state.approvals).toEqualTypeOf<readonly Approval[]>();
  expectTypeOf(state.steps).toEqualTypeOf<readonly CollaborationStep[]>();
  expectTypeOf(state.steps[0]?.changes).toEqualTypeOf<readonly TurnChange[] | undefined>();
  expectTypeOf(state.steps[0]?.fit).toEqualTypeOf<Fit | undefined>();
  expectTypeOf<Fit['schema']>().toEqualTypeOf<string>();
  expectTypeOf<Fit>().toHaveProperty('isUnknown');
  expectTypeOf(state.steps[0]?.input).toEqualTypeOf<string | undefined>();
  expectTypeOf(state.steps[0]?.unfinished).toEqualTypeOf<UnfinishedTurn | undefined>();
  expectTypeOf(state.board.value('draft')).toBeUnknown();
  const result = await collaboration.start('Go.').result;
  expectTypeOf(result).toEqualTypeOf<RunResult<CollaborationState, undefined>>();
  expectTypeOf(result.state.board).toEqualTypeOf<Board>();
  expectTypeOf(result.state).toEqualTypeOf<CollaborationState>();
  switch (result.status) {
    case 'completed':
    case 'stopped':
      expectTypeOf(result.stopReason).toEqualTypeOf<StopReason>();
      break;
    case 'waiting':
      expectTypeOf(result.waitingFor).toEqualTypeOf<readonly Wait[]>();
      break;
    case 'failed':
      expectTypeOf(result.error).toEqualTypeOf<Failure>();
      break;
    default:
      expectTypeOf(result).toBeNever();
  }
  expectTypeOf(collaboration.restore({})).toEqualTypeOf<CollaborationState>();
});

test('events are told apart by their type, BoardUpdated among them', async () => {
  const collaboration = createCollaboration({ collaborators: [writer] });
  for await (const event of collaboration.start('Go.')) {
    expectTypeOf(event).toEqualTypeOf<CollaborationEvent>();
    if (event.type === 'BoardUpdated') expectTypeOf(event.changes).toEqualTypeOf<readonly BoardChange[]>();
    if (event.type === 'ParticipantSelected') {
      expectTypeOf(event.selectedBy).toBeString();
      expectTypeOf(event.resumed).toEqualTypeOf<true | undefined>();
    }
    if (event.type === 'PersonAsked') expectTypeOf(event.problem).toEqualTypeOf<string | undefined>();
    // @ts-expect-error -- there is no such event
    if (event.type === 'BoardErased') return;
  }
  collaboration.onEvent('BoardUpdated', ({ changes, participant }) => {
    expectTypeOf(changes).toEqualTypeOf<readonly BoardChange[]>();
    expectTypeOf(participant).toEqualTypeOf<string | undefined>();
  });
});

test('what collaborators need of the host is wanted together', () => {
  const collaboration = createCollaboration({ collaborators: [writer, clerk, tenantOf] });
  const state = CollaborationState.empty();
  collaboration.run(state, { context: { db: 'north', tenant: 'acme' } });
  collaboration.start('Go.', { context: { db: 'north', tenant: 'acme' } });
  // @ts-expect-error -- both are needed
  collaboration.run(state);
  // @ts-expect-error -- the tenant is missing
  collaboration.run(state, { context: { db: 'north' } });
  // @ts-expect-error -- the runtime must say how to get it
  createSessionRuntime({ agents: [collaboration], store });
  createSessionRuntime({ agents: [collaboration], store, context: () => ({ db: 'north', tenant: 'acme' }) });
});

test('a list of collaborators that was made elsewhere will do', () => {
  const list: readonly Participant[] = [writer, boss];
  createCollaboration({ collaborators: list }).run(CollaborationState.empty());
});

test('an agent is given the board among its capabilities', () => {
  agentCollaborator({ name: 'ann', agent: (board) => createAgent({ model, capabilities: [board] }) });
  agentCollaborator({
    name: 'ann',
    agent: (board) => createAgent({ model, tools: { db }, capabilities: [board] }),
    context: () => ({ db: 'north' }),
  });
  // @ts-expect-error -- an agent is made for each turn
  agentCollaborator({ name: 'ann', agent: createAgent({ model }) });
});

test('an agent without the board takes part with the context that it needs', () => {
  const needing = createAgent({ model, tools: { db } });
  const state = CollaborationState.empty();
  const collaboration = createCollaboration({ collaborators: [writer, agentParticipant({ name: 'guest', agent: needing })] });
  collaboration.run(state, { context: { db: 'north' } });
  // @ts-expect-error -- its tool needs a context
  collaboration.run(state);
  const made = agentParticipant({ name: 'guest', agent: needing, context: (outer: { readonly tenant: string }) => ({ db: outer.tenant }) });
  createCollaboration({ collaborators: [writer, made] }).run(state, { context: { tenant: 'acme' } });
});

test('contributions are checked', () => {
  expectTypeOf<ContributionInput>().toEqualTypeOf<string | Contribution>();
  scriptedCollaborator({
    name: 'a',
    says: ['x', { text: 'y', writes: { draft: 'z' }, approves: ['draft'], handoff: { to: 'b', reason: 'c' } }],
  });
  // @ts-expect-error -- content is text
  scriptedCollaborator({ name: 'a', says: [{ writes: { draft: { price: 4 } } }] });
  // @ts-expect-error -- a handover has a reason
  scriptedCollaborator({ name: 'a', says: [{ handoff: { to: 'b' } }] });
  // @ts-expect-error -- approvals are a list
  humanCollaborator({ name: 'a', reply: () => ({ approves: 'draft' }) });
  humanCollaborator({ name: 'a', reply: async ({ state }) => ({ text: state.task, approves: state.board.names }) });
  // @ts-expect-error -- no number
  functionCollaborator({ name: 'a', speak: () => 4 });
  functionCollaborator({ name: 'a', speak: () => undefined });
});

test('done is checked', () => {
  createCollaboration({ collaborators: [writer], done: { approvedBy: ['writer'] } });
  createCollaboration({ collaborators: [writer], done: { artifact: 'draft', schema: { type: 'object' } } });
  // @ts-expect-error -- a list of names
  createCollaboration({ collaborators: [writer], done: { approvedBy: 'writer' } });
  // @ts-expect-error -- there is no such condition
  createCollaboration({ collaborators: [writer], done: { approvedBy: ['writer'], rounds: 3 } });
  // @ts-expect-error -- a collaboration has collaborators
  createCollaboration({ participants: [writer] });
});

test('selectors, criteria and with() know the state', () => {
  const collaboration = createCollaboration({
    collaborators: [writer, clerk],
    selector: ({ state, context }) => {
      expectTypeOf(state).toEqualTypeOf<CollaborationState>();
      expectTypeOf(context.db).toBeString();
      return state.board.isEmpty ? 'writer' : 'clerk';
    },
    criteria: [when<CollaborationState>('Full', ({ board }) => (board.isEmpty ? 'request' : 'stop'))],
  });
  collaboration.with({ selector: ({ state }) => (state.board.isEmpty ? 'writer' : 'clerk'), limits: { steps: 3 } });
  collaboration.with({ selector: ({ state }) => (state.board.isEmpty ? 'writer' : { end: 'it is all written' }) });
  // @ts-expect-error -- an end has a reason
  collaboration.with({ selector: () => ({ end: true }) });
  expectTypeOf(BoardTool.Write).toEqualTypeOf<'write_artifact'>();
});

test('changes are told apart by their type', () => {
  const read = (change: TurnChange): string => {
    switch (change.type) {
      case 'write':
        // @ts-expect-error -- a write has no note
        [change.note];
        return `${change.artifact} ${change.version}`;
      case 'approve':
        return `${change.artifact} ${change.note ?? ''}`;
      case 'handoff':
        return `${change.to} ${change.reason}`;
    }
  };
  expectTypeOf(read).returns.toBeString();
});
