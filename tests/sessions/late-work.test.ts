// Work that ends when nobody waits for it any more.
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../src/entry/index.ts';
import { AgentState, defineHook } from '../../src/entry/index.ts';
import type { Orchestrator, StateType } from '../../src/step-by-step/index.ts';
import type { SessionStore } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import type { Gate } from './gated-session.ts';
import { accepted, begin, by, createGate, createStage, settle, soon } from './gated-session.ts';

/** The same agent, with states that tell of a loop that never lets anything else run, instead of hanging the process with it. */
function withoutSpinning(agent: Agent): Orchestrator {
  let reads = 0;
  class CountedState extends AgentState {
    override get execution(): AgentState['execution'] {
      reads += 1;
      if (reads > 100_000) throw new Error('the session turns in a circle');
      return super.execution;
    }
  }
  const toCounted = ({ data }: AgentState): CountedState => new CountedState(data);
  const states: StateType<AgentState> = {
    ...agent.states,
    empty: (options) => toCounted(agent.states.empty(options)),
    parse: (text) => toCounted(agent.states.parse(text)),
    patch: (before, change, messages) => toCounted(agent.states.patch(before, change, messages)),
  };
  return { ...agent, states };
}

describe('work that ends late', () => {
  const slowHook = (gates: readonly Gate[], begun: string[]) =>
    defineHook({
      name: 'audit',
      changes: ['metadata'],
      timeoutMs: 100,
      beforeStep: async ({ effects, executionId }) => {
        const written = await effects.run(
          'write',
          async () => {
            begun.push(executionId);
            await gates[begun.length - 1]?.passed;
            return executionId;
          },
          { effect: 'idempotent' },
        );
        return { metadata: { audit: written.ok ? written.value : written.kind } };
      },
    });

  test('what a hook began and did not wait for is not taken for the work of the next execution', async () => {
    const [late, begun] = [createGate(), [] as string[]];
    const stage = createStage({ hooks: [slowHook([late], begun)] });
    const runtime = stage.start({ agents: [withoutSpinning(stage.agent)] });
    const { sent: first } = await begin(runtime);
    await settle();
    await stage.clock.advance(100);
    expect(await first).toMatchObject({ status: 'failed' });
    late.open();
    await settle();
    const second = runtime.send('s', 'two', { by });
    void stage.gated.next().then(({ answer }) => answer({ text: 'Done.' }));
    expect(await soon(second)).toMatchObject({ execution: 2, status: 'completed' });
    expect(begun).toStrictEqual(['s/1', 's/2']);
    expect((await runtime.get('s')).state.metadata).toStrictEqual({ audit: 's/2' });
  });

  test('what was kept of it after the last step does not stop the session in the next process', async () => {
    const [late, begun] = [createGate(), [] as string[]];
    const stage = createStage({ hooks: [slowHook([late], begun)] });
    const { sent: first } = await begin(stage.start());
    await settle();
    await stage.clock.advance(100);
    await first;
    late.open();
    await settle();
    const runtime = stage.start({ agents: [withoutSpinning(stage.agent)] });
    const second = runtime.send('s', 'two', { by });
    void stage.gated.next().then(({ answer }) => answer({ text: 'Done.' }));
    expect(await soon(second)).toMatchObject({ execution: 2, status: 'completed' });
  });

  test('where it ends while the last step is stored, a message that came in that step is taken in all the same', async () => {
    const [late, begun] = [createGate(), [] as string[]];
    const stage = createStage({ hooks: [slowHook([late], begun)] });
    const place = createMemoryPlace();
    const store = place.open();
    const write: SessionStore['log']['write'] = async (given) => {
      if (given.clearsEffects === true) late.open();
      await settle();
      return store.log.write(given);
    };
    const runtime = stage.start({ store: { ...store, log: { ...store.log, write } }, agents: [withoutSpinning(stage.agent)] });
    const { sent: first } = await begin(runtime);
    while (begun.length === 0) await settle();
    await runtime.send('s', 'two', accepted);
    await stage.clock.advance(100);
    await first.catch(() => undefined);
    for (let turn = 0; turn < 20; turn += 1) await settle();
    expect(stage.problems).toStrictEqual([]);
    expect(stage.gated.asked.map(({ said }) => said)).toStrictEqual([['one', 'two']]);
  });
});
