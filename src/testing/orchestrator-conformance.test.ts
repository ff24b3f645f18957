import { describe, expect, test } from 'vitest';
import type { LoopEvent, RunOptions, StepByStep } from '../step-by-step/index.ts';
import { createStepByStep } from '../step-by-step/index.ts';
import { AppendOnlyList, createCountingIds, createFakeClock } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import { orchestratorConformance } from './orchestrator-conformance.ts';
import { createScriptedProcess, ScriptedState } from './scripted-process.ts';

type Scripted = StepByStep<ScriptedState, undefined, unknown, LoopEvent>;
type Breaking = (whole: Scripted, start: ScriptedState) => Partial<Scripted>;

const restore = (stored: string): ScriptedState => ScriptedState.fromJSON(JSON.parse(stored));

function suite(breaking: Breaking, read = restore) {
  return orchestratorConformance(() => {
    const clock = createFakeClock();
    const process = createScriptedProcess([
      { text: 'One moment.', hasToolCalls: true, usage: { input: 1, output: 1 } },
      { text: 'Here it is.' },
    ]);
    const whole = createStepByStep(process, { clock, ids: createCountingIds() });
    const start = ScriptedState.empty({ clock }).withUserMessage('Hello.');
    return { orchestrator: { ...whole, ...breaking(whole, start) }, start, restore: read };
  });
}

async function fails(name: string, breaking: Breaking, read = restore): Promise<boolean> {
  const found = suite(breaking, read).find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no case "${name}".`);
  const ended = Promise.resolve()
    .then(found.run)
    .then(
      () => false,
      () => true,
    );
  const stuck = new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 200));
  return Promise.race([ended, stuck]);
}

/** Changes a state in place, as nobody may. */
function mutate(state: ScriptedState): void {
  (state.data as { lastSeq: number }).lastSeq += 1;
}

/** Reads a state and loses what it has used. */
const withoutUsage = (stored: string): ScriptedState => {
  const state = restore(stored);
  return state.evolve({ execution: { ...state.execution, usage: Usage.none() } });
};

/** Reads a state and loses that it has ended. */
const withoutResults = (stored: string): ScriptedState => {
  const state = restore(stored);
  return state.evolve({ execution: { ...state.execution, results: AppendOnlyList.empty() } });
};

const withoutSignal = ({ signal: _, ...options }: RunOptions<ScriptedState> = {}): RunOptions<ScriptedState> => options;

interface Broken {
  readonly name: string;
  readonly breaking?: Breaking;
  readonly read?: typeof restore;
}

const broken: readonly Broken[] = [
  {
    name: 'says without side effects that there is something to do',
    breaking: (whole) => ({
      hasNextStep: (state) => {
        mutate(state);
        return whole.hasNextStep(state);
      },
    }),
  },
  {
    name: 'ends with a reason, on the state and on the last step',
    breaking: (whole) => ({ run: (state, options) => whole.nextStep(state, options) }),
  },
  {
    name: 'comes to the same end however it is driven',
    breaking: (whole) => ({ start: (state, options) => whole.start(state, { ...options, signal: AbortSignal.abort() }) }),
  },
  {
    name: 'leaves the state it was given as it was',
    breaking: (whole) => ({
      run: (state, options) => {
        const result = whole.run(state, options);
        mutate(state);
        return result;
      },
    }),
  },
  {
    name: 'does nothing with a state that has ended',
    breaking: (whole) => ({ run: async (state, options) => (await whole.run(state, options)).withMetadata('ran', true) }),
  },
  {
    name: 'tells of each decision once, in order, and of the end last',
    breaking: (whole) => ({
      run: (state, options) =>
        whole.run(state, {
          ...options,
          onEvent: (event) => {
            options?.onEvent?.(event);
            if (event.type === 'ContinuationEvaluated') options?.onEvent?.(event);
          },
        }),
    }),
  },
  { name: 'goes on after being stored at any step as if nothing had happened', read: withoutUsage },
  { name: 'takes a second input after it has ended, also after being stored', read: withoutResults },
  {
    name: 'ends as the user asked when its signal has fired',
    breaking: (whole) => ({ run: (state, options) => whole.run(state, withoutSignal(options)) }),
  },
];

describe('the suite of the Orchestrator port', () => {
  test.each(broken)('"$name" fails where it is broken, and only there', async ({ name, breaking = () => ({}), read }) => {
    expect([await fails(name, breaking, read), await fails(name, () => ({}))]).toStrictEqual([true, false]);
  });

  test('has an orchestrator that breaks it for every case', () => {
    expect(suite(() => ({})).map(({ name }) => name)).toStrictEqual(broken.map(({ name }) => name));
  });

  test('a gap in the numbers is found, and an event after the end', async () => {
    const name = 'tells of each decision once, in order, and of the end last';
    const dropping: Breaking = (whole) => ({
      run: (state, options) =>
        whole.run(state, { ...options, onEvent: (event) => event.type !== 'AgentStepStarted' && options?.onEvent?.(event) }),
    });
    const headless: Breaking = (whole) => ({
      run: (state, options) =>
        whole.run(state, { ...options, onEvent: (event) => event.type !== 'AgentFinished' && options?.onEvent?.(event) }),
    });
    expect([await fails(name, dropping), await fails(name, headless)]).toStrictEqual([true, true]);
  });
});
