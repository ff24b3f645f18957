import { expectTypeOf, test } from 'vitest';
import type {
  AgentState as AnyAgentState,
  Failure,
  Model,
  Orchestrator,
  RunResult,
  StopReason,
  Usage,
  Wait,
} from '../../src/entry/index.ts';
import {
  ContinuationDecision,
  defineContext,
  createAgent,
  createEventBus,
  defineTool,
  ErrorPolicy,
  Message,
  stopWhen,
  when,
} from '../../src/entry/index.ts';
import type {
  Chat,
  ChatEvent,
  ChatOptions,
  ChatStep,
  InnerRun,
  Participant,
  ParticipantKind,
  Selector,
  SpokenTurn,
  TurnState,
  UnfinishedTurn,
} from '../../src/chat/index.ts';
import {
  byMention,
  agentParticipant,
  ChatState,
  coordinator,
  createChat,
  functionParticipant,
  humanParticipant,
  llmParticipant,
  roundRobin,
  scriptedParticipant,
  selectBy,
} from '../../src/chat/index.ts';
import { orchestratorConformance } from '../../src/testing/index.ts';

interface Db {
  readonly find: (name: string) => string;
}

declare const model: Model;
declare const db: Db;
declare const signal: AbortSignal;

const find = defineTool({
  name: 'find',
  description: 'A tool.',
  input: { type: 'object' },
  context: defineContext<{ readonly db: Db }>(),
  run: (_, { context }) => context.db.find('x'),
});
const clock = defineTool({ name: 'clock', description: 'A tool.', input: { type: 'object' }, run: () => 'noon' });
const state = ChatState.empty();
const script = scriptedParticipant({ name: 'script', says: ['x'] });
const person = humanParticipant({ name: 'ann', prompt: 'Your view?' });

test('a chat with every kind of participant compiles as one would write it', async () => {
  const chat = createChat({
    id: 'panel',
    version: '2',
    participants: [
      script,
      person,
      humanParticipant({ name: 'bob', reply: async ({ messages }) => messages.at(-1)?.text }),
      llmParticipant({ name: 'eve', model, instructions: 'Be brief.', tools: [clock], limits: { steps: 2 } }),
      agentParticipant({ name: 'digger', agent: createAgent({ model }), description: 'digs' }),
      functionParticipant({ name: 'fn', speak: ({ state: { stepCount } }) => `${stepCount}`, timeoutMs: 100 }),
    ],
    selector: coordinator({ model, instructions: 'Be fair.', otherwise: byMention({ otherwise: roundRobin() }) }),
    limits: { steps: 20, tokens: 10_000, onLimit: 'pause' },
    errors: ErrorPolicy.retryAll(3),
    finishReasons: ['length'],
    price: ({ total }) => ({ usd: total }),
  });
  expectTypeOf(chat).toExtend<Orchestrator<ChatState, undefined, unknown, ChatEvent>>();
  const run = chat.start('Shall we?', { signal });
  for await (const event of run) {
    expectTypeOf(event).toEqualTypeOf<ChatEvent>();
    if (event.type === 'ParticipantSelected') expectTypeOf(event.selectedBy).toBeString();
    if (event.type === 'ParticipantSelected') expectTypeOf(event.resumed).toEqualTypeOf<true | undefined>();
    if (event.type === 'PersonAsked') expectTypeOf(event.problem).toEqualTypeOf<string | undefined>();
    if (event.type === 'TextDelta') expectTypeOf(event.participant).toEqualTypeOf<string | undefined>();
  }
  const result = await run.result;
  expectTypeOf(result).toEqualTypeOf<RunResult<ChatState, undefined>>();
  if (result.status === 'waiting') expectTypeOf(result.waitingFor).toEqualTypeOf<readonly Wait[]>();
  else expectTypeOf(result.stopReason).toEqualTypeOf<StopReason>();
  if (result.status === 'failed') expectTypeOf(result.error).toEqualTypeOf<Failure>();
  // @ts-expect-error -- only a failed result has an error
  result.error;
  run.requestStop('enough');
  chat.start(result.state.answer('ann/2', 'Yes.'));
  chat.start(Message.user('And?'));
  expectTypeOf(chat.restore({})).toEqualTypeOf<ChatState>();
  expectTypeOf(await chat.run(state)).toEqualTypeOf<ChatState>();
});

test('the context is wanted exactly where a participant needs one', () => {
  const free = createChat({ participants: [script, person] });
  free.run(state);
  free.run(state, { signal });
  free.start('x');

  const byTool = createChat({ participants: [script, llmParticipant({ name: 'eve', model, tools: [find, clock] })] });
  byTool.run(state, { context: { db } });
  byTool.start('x', { context: { db } });
  // @ts-expect-error -- the tool needs a db
  byTool.run(state);
  // @ts-expect-error -- the tool needs a db
  byTool.start('x', { signal });
  // @ts-expect-error -- that is not a db
  byTool.run(state, { context: { db: 4 } });
  // @ts-expect-error -- the tool needs a db
  byTool.nextStep(state);

  const fn = functionParticipant({
    name: 'fn',
    context: defineContext<{ readonly user: number }>(),
    speak: ({ context }) => `${context.user}`,
  });
  const both = createChat({ participants: [llmParticipant({ name: 'eve', model, tools: [find] }), fn] });
  both.run(state, { context: { db, user: 1 } });
  // @ts-expect-error -- the function needs a user
  both.run(state, { context: { db } });
});

test('an agent that takes part needs what its own context needs, or what it is made of', () => {
  const agent = createAgent({ model, tools: [find] });
  const needing = createChat({ participants: [script, agentParticipant({ name: 'digger', agent })] });
  needing.run(state, { context: { db } });
  // @ts-expect-error -- the tool of the agent needs a db
  needing.run(state);
  // @ts-expect-error -- that is not a db
  needing.run(state, { context: { db: 4 } });

  const made = createChat({
    participants: [
      agentParticipant({ name: 'digger', agent, context: (outer: { readonly dbs: readonly Db[] }) => ({ db: outer.dbs[0] ?? db }) }),
    ],
  });
  made.run(state, { context: { dbs: [db] } });
  // @ts-expect-error -- what the context is made of is needed
  made.run(state, { context: { db } });
  // @ts-expect-error -- that is not what the agent needs
  agentParticipant({ name: 'digger', agent, context: () => ({ db: 4 }) });

  const free = agentParticipant({ name: 'digger', agent: createAgent({ model }) });
  createChat({ participants: [free] }).run(state);
});

test('a list that is made elsewhere may be passed on', () => {
  const participants: readonly Participant[] = [script, person];
  createChat({ participants }).run(state);
  const any: readonly Participant<never>[] = [script, llmParticipant({ name: 'eve', model, tools: [find] })];
  createChat({ participants: any });
  const options: ChatOptions = { participants: [script] };
  createChat(options);
});

test('selectors and rules read the state of a chat', () => {
  createChat({ participants: [script], selector: ({ next, state: { transcript } }) => (transcript.length > 1 ? next : 'script') });
  createChat({ participants: [script], selector: async () => ({ participant: 'script', reason: 'alone' }) });
  createChat({ participants: [script], selector: selectBy(() => 'script', { name: 'mine', timeoutMs: 5 }) });
  createChat({ participants: [script], selector: ({ next, state: { stepCount } }) => (stepCount > 2 ? { end: 'enough' } : next) });
  createChat({ participants: [script], selector: coordinator({ model, mayEnd: true }) });
  // @ts-expect-error -- an end has a reason
  createChat({ participants: [script], selector: () => ({ end: true }) });
  // @ts-expect-error -- a number names nobody
  createChat({ participants: [script], selector: () => 4 });
  const own: Selector = { name: 'own', select: ({ participants }) => ({ participant: participants[0]?.name ?? '' }) };
  createChat({
    participants: [script],
    selector: own,
    criteria: [
      stopWhen('Enough', ({ transcript, speaker }) => transcript.length > 3 && `${speaker ?? 'nobody'} said enough`),
      when('Mine', ({ spokenSinceInput }) =>
        spokenSinceInput.has('script') ? ContinuationDecision.AllowStop : ContinuationDecision.RequestContinuation,
      ),
    ],
  });
});

test('a state knows who said what', () => {
  expectTypeOf(state).toExtend<TurnState>();
  expectTypeOf(state.transcript).toEqualTypeOf<readonly SpokenTurn[]>();
  expectTypeOf(state.speaker).toEqualTypeOf<string | undefined>();
  expectTypeOf(state.participant).toEqualTypeOf<string | undefined>();
  expectTypeOf(state.steps).toEqualTypeOf<readonly ChatStep[]>();
  expectTypeOf(state.currentStep?.inner).toEqualTypeOf<InnerRun | undefined>();
  expectTypeOf(state.currentStep?.unfinished).toEqualTypeOf<UnfinishedTurn | undefined>();
  expectTypeOf(state.currentStep?.unfinished?.messages).toEqualTypeOf<readonly Message[] | undefined>();
  expectTypeOf(state.currentStep?.input).toEqualTypeOf<string | undefined>();
  expectTypeOf(state.currentStep?.selection?.usage).toEqualTypeOf<Usage | undefined>();
  expectTypeOf(state.pendingStep?.partial.memo?.kind).toEqualTypeOf<ParticipantKind | undefined>();
  expectTypeOf(state.withUserMessage('x')).toEqualTypeOf<ChatState>();
  expectTypeOf(state).not.toExtend<AnyAgentState>();
});

test('what cannot work is no program', () => {
  // @ts-expect-error -- there are participants to be named
  createChat({});
  // @ts-expect-error -- a name alone takes no turn
  createChat({ participants: [{ name: 'x' }] });
  // @ts-expect-error -- a misspelt option
  createChat({ participants: [script], limit: { steps: 1 } });
  // @ts-expect-error -- words are a list
  scriptedParticipant({ name: 'x', says: 'y' });
  // @ts-expect-error -- words are text
  scriptedParticipant({ name: 'x', says: [4] });
  // @ts-expect-error -- a model is needed
  llmParticipant({ name: 'x' });
  // @ts-expect-error -- the output of a whole run has no place in a turn
  llmParticipant({ name: 'x', model, output: { type: 'object' } });
  // @ts-expect-error -- an agent is needed
  agentParticipant({ name: 'x', agent: model });
  // @ts-expect-error -- words are text
  functionParticipant({ name: 'x', speak: () => 4 });
  // @ts-expect-error -- words are text
  humanParticipant({ name: 'x', reply: () => ({ text: 'y' }) });
  // @ts-expect-error -- a coordinator is a model
  coordinator({});
});

test('a chat is an orchestrator like the others, and may be changed', () => {
  const chat = createChat({ participants: [script], events: createEventBus<ChatEvent>() });
  expectTypeOf(chat).toEqualTypeOf<Chat>();
  expectTypeOf(chat.with({ limits: { steps: 3 } })).toEqualTypeOf<Chat>();
  chat.onEvent('ParticipantSelected', ({ reason, problem }) => {
    expectTypeOf([reason, problem]).toEqualTypeOf<(string | undefined)[]>();
  });
  orchestratorConformance<ChatState>(() => ({
    orchestrator: chat,
    start: state,
    restore: (text) => ChatState.fromJSON(JSON.parse(text)),
  }));
  const needing = createChat({ participants: [llmParticipant({ name: 'eve', model, tools: [find] })] });
  // @ts-expect-error -- a changed chat needs the same context
  needing.with({ limits: { steps: 3 } }).run(state);
});
