// Random sessions, run for real: calls, failures, retries, approvals, sub-agents, limits, chats, and processes that die in mid-answer.
import fc from 'fast-check';
import { setImmediate } from 'node:timers/promises';
import { AgentEventEnvelopeAdapter, createEnvelopeMapper } from '../../src/broadcasting/index.ts';
import type { BroadcastOptions, Envelope, EventEnvelope } from '../../src/broadcasting/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import { createChat, functionParticipant, llmParticipant } from '../../src/chat/index.ts';
import { createAgent, defineClientTool, defineTool, ErrorPolicy } from '../../src/entry/index.ts';
import type { BaseEvent } from '../../src/events/index.ts';
import type { ModelRequest } from '../../src/inference/index.ts';
import type { Clock } from '../../src/lib/index.ts';
import { createCountingIds, systemClock } from '../../src/lib/index.ts';
import type { EmbeddedRuntime, Session, SessionFacts, SessionWait, StoredEvent } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import type { EmittedEvent } from './wire.ts';
import { toStoredEnvelopes, Wire } from './wire.ts';

const ann = { id: 'ann', kind: 'user' } as const;
const sessionId = 'one';

/** A session to run. */
export interface Scenario {
  readonly kind: 'agent' | 'chat';
  readonly preset: NonNullable<BroadcastOptions['preset']>;
  /** Messages of the user. Orders are parted by `;`, one for each step. */
  readonly inputs: readonly string[];
  /** Answers to waits, in turn. */
  readonly answers: readonly ('approve' | 'reject' | 'edit' | 'leave')[];
  readonly onLimit: 'stop' | 'pause' | 'finalize';
  readonly steps: number;
  /** True if the death of a process is announced. */
  readonly isAnnounced: boolean;
}

/** A session that was run, as envelopes. */
export interface EventLog {
  readonly stored: readonly EventEnvelope[];
  /** Everything in the order in which a reader gets it. */
  readonly live: readonly Envelope[];
  /** Everything that an AgentEventEnvelopeAdapter sent. */
  readonly broadcast: readonly Envelope[];
  readonly head: Envelope;
  readonly session: Session;
}

const order = fc.oneof(
  fc.constantFrom('look 1', 'note 2', 'pay 3', 'ask 4', 'broken 5', 'look 1 & pay 2', 'pay 1 & pay 2 & note 3', 'spawn_subagent look 7'),
  fc.constantFrom('spawn_subagent pay 8', 'json look 1', 'words look 1 & broken 2', 'fail! look 2', 'fail! say Later.', 'hang! pay 4'),
);
const input = fc
  .tuple(fc.array(order, { maxLength: 4 }), fc.constantFrom('say Done.', 'hang! say All is well.', 'fail! fail! say Well.', 'say {"a":1}'))
  .map(([orders, end]) => [...orders, end].join('; '));

export const scenario: fc.Arbitrary<Scenario> = fc.record({
  kind: fc.constantFrom('agent' as const, 'agent' as const, 'chat' as const),
  preset: fc.constantFrom('standard' as const, 'debug' as const, 'minimal' as const),
  inputs: fc.array(input, { minLength: 1, maxLength: 3 }),
  answers: fc.array(fc.constantFrom('approve' as const, 'reject' as const, 'edit' as const, 'leave' as const), { maxLength: 6 }),
  onLimit: fc.constantFrom('stop' as const, 'pause' as const, 'finalize' as const),
  steps: fc.integer({ min: 2, max: 6 }),
  isAnnounced: fc.boolean(),
});

/** A clock that no two readers read alike, and that never makes anybody wait. */
function createTickingClock(): Clock {
  let now = Date.UTC(2026, 0, 16);
  const read = (): number => (now += 1);
  return {
    now: read,
    monotonic: read,
    schedule: (afterMs, call, inBackground) => {
      if (inBackground === true) return systemClock.schedule(afterMs, call, true);
      return systemClock.schedule(0, () => {
        now += afterMs;
        call();
      });
    },
  };
}

/** The world that processes leave behind when they die. */
class World {
  readonly scenario: Scenario;
  readonly clock = createTickingClock();
  readonly ids = createCountingIds();
  readonly #place = createMemoryPlace();
  readonly #tried = new Set<string>();
  readonly wire: Wire;
  readonly broadcast: Envelope[] = [];
  readonly mapper;
  #process = 0;
  #hangs: () => void = () => undefined;
  /** Fulfilled when the model hangs. */
  hanging: Promise<'hangs'> = Promise.resolve('hangs');
  runtime: EmbeddedRuntime;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.mapper = createEnvelopeMapper({ preset: scenario.preset });
    this.wire = new Wire(this.mapper, sessionId);
    this.runtime = this.start();
  }

  /** Starts a process. One that was started before can do nothing more. */
  start(): EmbeddedRuntime {
    this.#process += 1;
    this.hanging = new Promise((resolve) => (this.#hangs = () => resolve('hangs')));
    const mine = this.#process;
    const { clock, ids } = this;
    const onEvent = (event: object, session: SessionFacts): void => {
      if (mine !== this.#process) return;
      this.wire.note(JSON.parse(JSON.stringify(event)) as EmittedEvent);
      // Holds: a runtime emits events.
      adapter.broadcast(event as BaseEvent, session);
    };
    const agents = [this.scenario.kind === 'agent' ? this.#createAgent() : this.#createChat()];
    const adapter = this.#createAdapter();
    const options = { silenceMs: 0, heartbeatClock: createFakeClock(), onProblem: () => undefined };
    this.runtime = createSessionRuntime({ ...options, agents, store: this.#place.open(), clock, ids, onEvent });
    return this.runtime;
  }

  #createAdapter() {
    const send = (_channel: string, envelopes: readonly Envelope[]): void => void this.broadcast.push(...envelopes);
    return new AgentEventEnvelopeAdapter({ send }, { preset: this.scenario.preset, clock: this.clock });
  }

  #createModel() {
    const answer = (request: ModelRequest): ScriptedAnswer => {
      const last = request.messages.findLastIndex((message) => message.isUser());
      const after = request.messages.slice(last + 1).filter((message) => message.isAssistant()).length;
      return this.#answer(request.messages[last]?.text ?? '', after, request.messages.length);
    };
    return scriptedModel([answer], { repeatLast: true });
  }

  #answer(words: string, step: number, count: number): ScriptedAnswer {
    const usage = { input: 10, output: 5 };
    const orders = words.replace(/^\w+: /, '').split(';');
    let rest = orders[step]?.trim() ?? 'say Done.';
    for (let match = /^(fail|hang)! /.exec(rest); match !== null; match = /^(fail|hang)! /.exec(rest)) {
      const key = `${words}/${step}/${count}/${rest}`;
      rest = rest.slice(match[0].length);
      if (this.#tried.has(key)) continue;
      this.#tried.add(key);
      if (match[1] === 'fail') return { chunks: ['Half an '], error: new Error('503 no capacity') };
      const hang = this.#hangs;
      const chunks = async function* () {
        yield 'Let me ';
        yield 'think';
        hang();
        await new Promise(() => undefined);
      };
      return { chunks: chunks() };
    }
    const prose = /^(json|words) /.exec(rest);
    const text = prose === null ? undefined : prose[1] === 'json' ? '{"amount":1}' : 'Let me look.';
    rest = rest.slice(prose?.[0].length ?? 0);
    if (!/^(?:pay|look|note|ask|broken|spawn_subagent)\b/.test(rest)) {
      const spoken = rest.replace(/^say /, '') || 'Yes?';
      return { chunks: spoken.match(/..?/gs) ?? [], usage };
    }
    const toolCalls = rest.split('&').map((call, index) => {
      const [name = '', ...args] = call.trim().split(' ');
      const id = `c${count}-${index}`;
      if (name === 'spawn_subagent') return { name, id, args: { subagent: 'helper', prompt: args.join(' ') } };
      return { name, id, args: { amount: Number(args[0] ?? 0), memo: 'a longer memo that a summary has to cut' } };
    });
    return { ...(text !== undefined && { text }), toolCalls, usage };
  }

  #createTools() {
    const object = { type: 'object', properties: { amount: { type: 'number' }, memo: { type: 'string' } }, required: ['amount'] } as const;
    const run = ({ amount }: { readonly amount: number }) => ({ paid: amount, list: [1, 2, { deep: true }] });
    return [
      defineTool({ name: 'look', description: 'Looks.', input: object, effect: 'pure', run }),
      defineTool({ name: 'note', description: 'Notes.', input: object, run }),
      defineTool({ name: 'pay', description: 'Pays.', input: object, needsApproval: true, run }),
      defineTool({
        name: 'broken',
        description: 'Fails.',
        input: object,
        run: () => {
          throw new Error('out of order');
        },
      }),
      defineClientTool({ name: 'ask', description: 'Asks the client.', input: object }),
    ];
  }

  #createAgent() {
    const { clock, ids } = this;
    const { steps, onLimit } = this.scenario;
    const ports = { clock, ids, onProblem: () => undefined };
    const common = { tools: this.#createTools(), ports, errors: ErrorPolicy.retryAll(3) };
    const helper = createAgent({ ...common, id: 'helper', model: this.#createModel(), limits: { steps: 3 } });
    const capabilities = [subAgents({ agents: { helper: { agent: helper, description: 'Helps.' } } })];
    return createAgent({ ...common, id: 'desk', model: this.#createModel(), capabilities, limits: { steps, wallMs: 1e12, onLimit } });
  }

  #createChat() {
    const { clock, ids } = this;
    const ports = { clock, ids, onProblem: () => undefined };
    const limits = { steps: 9, wallMs: Number.POSITIVE_INFINITY };
    const clerk = llmParticipant({ name: 'clerk', model: this.#createModel(), tools: this.#createTools(), limits });
    const echo = functionParticipant({ name: 'echo', speak: ({ state }) => `Echo: ${state.messages.length}` });
    return createChat({ id: 'room', participants: [clerk, echo], ports, errors: ErrorPolicy.retryAll(3) });
  }
}

/** Waits until the session rests, over the deaths of as many processes as it takes. */
async function settle(world: World, work: Promise<unknown>): Promise<void> {
  let pending: Promise<unknown> = work;
  for (;;) {
    const end = await Promise.race([pending.catch(() => 'failed'), world.hanging]);
    if (end !== 'hangs') return;
    world.wire.die(world.scenario.isAnnounced, world.clock.now());
    const runtime = world.start();
    // It resumes by itself.
    pending = (async () => {
      while ((await runtime.get(sessionId)).status === 'in_progress') await setImmediate();
    })();
  }
}

async function resolve(world: World, wait: SessionWait, answer: Scenario['answers'][number]): Promise<void> {
  const { runtime } = world;
  const by = { by: ann };
  if (wait.type === 'grant') return settle(world, runtime.grant(sessionId, { steps: 2 }, by));
  if (wait.type !== 'approval') return settle(world, runtime.answer(sessionId, wait, { ...by, value: 'an answer' }));
  if (answer === 'reject') return settle(world, runtime.reject(sessionId, wait, { ...by, reason: 'Too much.' }));
  const args = answer === 'edit' ? { args: { amount: 1 } } : {};
  return settle(world, runtime.approve(sessionId, wait, { ...by, ...args }));
}

/** Runs a session, and returns everything that was sent of it. */
export async function runScenario(scenario: Scenario): Promise<EventLog> {
  const world = new World(scenario);
  await world.runtime.create({ id: sessionId }, { by: ann });
  const answers = [...scenario.answers];
  for (const text of scenario.inputs) {
    await settle(world, world.runtime.send(sessionId, text, { by: ann }));
    for (let round = 0; round < 6; round += 1) {
      const [wait] = (await world.runtime.get(sessionId)).waitingFor;
      const answer = answers.shift();
      if (wait === undefined || answer === undefined || answer === 'leave') break;
      await resolve(world, wait, answer);
    }
  }
  const { runtime, wire, mapper, clock } = world;
  const session = await runtime.get(sessionId);
  const events: StoredEvent[] = [];
  for await (const event of runtime.events(sessionId)) events.push(event);
  const stored = toStoredEnvelopes(mapper, events, sessionId);
  const head = mapper.toHead({ sessionId, seq: stored.at(-1)?.seq ?? 0, at: clock.now() });
  return { stored, live: wire.read(stored), broadcast: world.broadcast, head, session };
}
