// What a step costs over a bare loop that awaits the same producer and keeps the same messages.
import { ContinuationCriteria, createEventBus, Message, ToolCallPresenceCheck, Usage } from 'stepline';
import type { Step, StepProcess } from 'stepline/step-by-step';
import { createStepByStep, RunState, standardCriteria } from 'stepline/step-by-step';
import type { Contender } from './measure.ts';

interface BenchStep extends Step {
  readonly hasToolCalls: boolean;
}

class BenchState extends RunState<BenchStep> {
  static empty(): BenchState {
    return new BenchState(RunState.emptyData());
  }
}

const usage = Usage.of({ input: 100, output: 20 });

async function produce(number: number, last: number): Promise<BenchStep> {
  const id = `step-${String(number)}`;
  return Promise.resolve({
    id,
    outputMessages: [Message.assistant('Working on it.', { id })],
    usage,
    errors: [],
    hasToolCalls: number < last,
  });
}

function setUpProcess(last: number): StepProcess<BenchState> {
  const limits = { steps: 1_000_000, tokens: 1_000_000_000 };
  const presence = new ToolCallPresenceCheck<BenchState>(
    ({ stepCount, currentStep }) => stepCount === 0 || currentStep?.hasToolCalls === true,
  );
  return {
    name: 'bench',
    criteria: ContinuationCriteria.from<BenchState>(...standardCriteria({ limits }), presence),
    produce: async (state) => ({ type: 'step', step: await produce(state.stepCount + 1, last) }),
    emptyStep: (facts) => ({ ...facts, outputMessages: [], usage: Usage.none(), hasToolCalls: false }),
  };
}

const keepFromBeingOptimisedAway = { events: 0, messages: 0 };

/** The loop with the default criteria, events to one listener, and time tracking. */
export function withLoop(steps: number): Contender {
  const events = createEventBus();
  events.wiretap(() => {
    keepFromBeingOptimisedAway.events += 1;
  });
  const orchestrator = createStepByStep(setUpProcess(steps), { events });
  return {
    name: `stepline, ${String(steps)} steps`,
    units: steps,
    work: async () => {
      const state = await orchestrator.run(BenchState.empty().withUserMessage('Go.'));
      if (state.stepCount !== steps) throw new Error(`The bench took ${String(state.stepCount)} steps instead of ${String(steps)}.`);
      keepFromBeingOptimisedAway.messages += state.messages.length;
    },
  };
}

/** A hand-written loop: await the step, keep its messages, add up its usage, look whether to go on. */
export function byHand(steps: number): Contender {
  return {
    name: `by hand, ${String(steps)} steps`,
    units: steps,
    work: async () => {
      const messages = [Message.user('Go.')];
      let total = 0;
      for (let number = 1; ; number += 1) {
        const step = await produce(number, steps);
        messages.push(...step.outputMessages);
        total += step.usage.total;
        if (!step.hasToolCalls || total > 1_000_000_000) break;
      }
      keepFromBeingOptimisedAway.messages += messages.length;
    },
  };
}
