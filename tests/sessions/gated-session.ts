// A session whose model answers when the test lets it, so that a test can act in the middle of a step.
import { expect } from 'vitest';
import type { AgentOptions, Agent } from '../../src/entry/index.ts';
import type { ModelRequest } from '../../src/inference/index.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import type { FakeClock } from '../../src/lib/index.ts';
import { createCountingIds, createFakeClock } from '../../src/lib/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionStore, SessionResult } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { readEvents } from './client-of-ten-steps.ts';
import { newProcess } from './stage.ts';

export const by = { id: 'ann', kind: 'user' };

/** Something that happens when it is let. */
export interface Gate {
  readonly passed: Promise<void>;
  readonly open: () => void;
}

export function createGate(): Gate {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}

/** A call of the model that waits for its answer. */
export interface AskedModel {
  readonly request: ModelRequest;
  readonly said: readonly string[];
  readonly answer: (answer: ScriptedAnswer) => void;
}

/** A model that hands each of its calls to the test. */
export class GatedModel {
  readonly asked: AskedModel[] = [];
  readonly #waiting: ((asked: AskedModel) => void)[] = [];
  #seen = 0;
  readonly model: ReturnType<typeof scriptedModel> = scriptedModel([(request) => this.#ask(request)], { repeatLast: true });

  /** The next call that the test has not seen yet. */
  next(): Promise<AskedModel> {
    const asked = this.asked[this.#seen];
    this.#seen += 1;
    return asked === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(asked);
  }

  #ask(request: ModelRequest): Promise<ScriptedAnswer> {
    return new Promise((resolve) => {
      const said = request.messages.filter((message) => message.isUser()).map(({ text }) => text);
      const asked: AskedModel = { request, said, answer: resolve };
      this.asked.push(asked);
      this.#waiting.shift()?.(asked);
    });
  }
}

const anything = { type: 'object', properties: {} } as const;

/** Lets everything run that can. */
export const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0));

/** Returns the result if it comes within a number of turns of the event loop; says so if it does not. */
export async function soon<Value>(coming: Promise<Value>): Promise<Value> {
  const turns = async (): Promise<never> => {
    for (let turn = 0; turn < 100; turn += 1) await settle();
    throw new Error('nothing came of it');
  };
  return Promise.race([coming, turns()]);
}

/** A session on a place in memory, its agent, and new runtimes over it. */
export interface Stage {
  readonly clock: FakeClock;
  readonly gated: GatedModel;
  readonly done: string[];
  readonly slow: Gate;
  readonly problems: unknown[];
  readonly store: SessionStore;
  readonly agent: Agent;
  /** A new runtime, as a process that starts has it. */
  start(options?: Partial<SessionRuntimeOptions>): EmbeddedRuntime;
}

export function createStage(options: Partial<AgentOptions> = {}): Stage {
  const [clock, ids, gated, slow] = [createFakeClock(), createCountingIds(), new GatedModel(), createGate()];
  const place = createMemoryPlace();
  const done: string[] = [];
  const problems: unknown[] = [];
  const tools = [
    defineTool({ name: 'look', description: 'Looks.', input: anything, effect: 'pure', run: () => (done.push('look'), 'seen') }),
    defineTool({ name: 'pay', description: 'Pays.', input: anything, needsApproval: true, run: () => (done.push('pay'), 'paid') }),
    defineTool({
      name: 'slow',
      description: 'Takes its time.',
      input: anything,
      effect: 'idempotent',
      run: async () => {
        await slow.passed;
        done.push('slow');
        return 'at last';
      },
    }),
  ];
  const ports = { clock, ids, random: () => 0.5, onProblem: () => undefined };
  const agent = createAgent({ id: 'desk', model: gated.model, tools, ports, ...options });
  const start = (more: Partial<SessionRuntimeOptions> = {}): EmbeddedRuntime =>
    createSessionRuntime({
      ...newProcess,
      agents: [agent],
      store: place.open(),
      clock,
      ids,
      onProblem: (error) => problems.push(error),
      ...more,
    });
  return { clock, gated, done, slow, problems, store: place.open(), agent, start };
}

/** Calls of these tools. */
export const calls = (...names: readonly string[]): ScriptedAnswer => ({ toolCalls: names.map((name) => ({ name, id: `call-${name}` })) });

/** An action that is not waited for. */
export const accepted = { by, until: 'accepted' } as const;

/** Makes the session and says something in it. */
export async function begin(runtime: EmbeddedRuntime, text = 'one'): Promise<{ readonly sent: Promise<SessionResult> }> {
  await runtime.create({ id: 's' }, { by });
  const sent = runtime.send('s', text, { by, requestId: text });
  // Where its process ends, nobody waits for it.
  sent.catch(() => undefined);
  return { sent };
}

/** The numbers of the stored events leave out none. */
export async function expectDenseEvents(runtime: EmbeddedRuntime): Promise<void> {
  const seqs = (await readEvents(runtime, 's')).map(({ seq }) => seq);
  expect(seqs).toStrictEqual(seqs.map((_, index) => index + 1));
}
