import type { BaseEvent } from '../events/index.ts';
import type { LoopEvent, Runnable, RunState } from '../step-by-step/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same } from './conformance.ts';

/** A runnable under test, with a state that it can carry to its end. */
export interface RunnableSubject<State extends RunState, Event extends BaseEvent = LoopEvent> {
  readonly runnable: Runnable<State, unknown, Event>;
  /** A state with something to do, which ends without help. */
  readonly start: State;
  /** A stored state, read again. */
  readonly restore: (stored: string) => State;
}

const facts = (state: RunState): unknown => [state.status, state.stopReason, state.stepCount, state.usage, state.text];
const outcomes = (state: RunState): unknown => state.stepResults.map(({ outcome }) => outcome);

type Check = <State extends RunState, Event extends BaseEvent>(subject: RunnableSubject<State, Event>) => Promise<void>;

const checks: Readonly<Record<string, Check>> = {
  'says without side effects that there is something to do': async ({ runnable, start }) => {
    const before = JSON.stringify(start);
    holds(runnable.hasNextStep(start) && runnable.hasNextStep(start), 'there was nothing to do');
    holds(JSON.stringify(start) === before, 'asking changed the state');
  },
  'ends with a reason, on the state and on the last step': async ({ runnable, start }) => {
    const end = await runnable.run(start);
    holds(end.stopReason !== undefined, 'it ended without a reason');
    same(end.lastStepResult?.stopReason, end.stopReason, 'reason on the last step');
    holds(!runnable.hasNextStep(end), 'it ended with something left to do');
  },
  'comes to the same end however it is driven': async ({ runnable, start }) => {
    const end = await runnable.run(start);
    let iterated = start;
    for await (const state of runnable.iterate(start)) iterated = state;
    let stepped = start;
    while (runnable.hasNextStep(stepped)) stepped = await runnable.nextStep(stepped);
    const streamed = await runnable.stream(start).result;
    for (const other of [iterated, stepped, streamed]) same(facts(other), facts(end), 'the end');
  },
  'leaves the state it was given as it was': async ({ runnable, start }) => {
    const before = JSON.stringify(start);
    await runnable.run(start);
    holds(JSON.stringify(start) === before, 'the run changed the state it was given');
  },
  'does nothing with a state that has ended': async ({ runnable, start }) => {
    const end = await runnable.run(start);
    holds((await runnable.run(end)) === end && (await runnable.nextStep(end)) === end, 'an ended state came back changed');
  },
  'tells of each decision once, in order, and of the end last': async ({ runnable, start }) => {
    const events: BaseEvent[] = [];
    const end = await runnable.run(start, { onEvent: (event) => events.push(event) });
    const numbered = events.filter(({ id }) => !id.includes('.'));
    same(
      numbered.map(({ seq }) => seq),
      numbered.map((_, index) => start.data.lastSeq + index + 1),
      'numbers',
    );
    const judged = events
      // Runs inside a step tell of their own decisions.
      .filter(({ type, agentId }) => type === 'ContinuationEvaluated' && agentId === end.agentId)
      .map((event) => ('outcome' in event ? event.outcome : undefined));
    same(judged, outcomes(end), 'decisions told');
    same(events.at(-1)?.type, 'AgentFinished', 'last event');
    same(end.data.lastSeq, numbered.at(-1)?.seq, 'last number on the state');
  },
  'goes on after being stored at any step as if nothing had happened': async ({ runnable, start, restore }) => {
    const end = await runnable.run(start);
    let state = restore(JSON.stringify(start));
    while (runnable.hasNextStep(state)) state = restore(JSON.stringify(await runnable.nextStep(state)));
    same(facts(state), facts(end), 'the end');
  },
  'takes a second input after it has ended, also after being stored': async ({ runnable, start, restore }) => {
    const end = restore(JSON.stringify(await runnable.run(start)));
    const again = end.withUserMessage('And now?');
    same([again.status, again.stepCount, again.usage.total], ['pending', 0, 0], 'the new execution');
    const secondEnd = await runnable.run(again);
    holds(secondEnd.stopReason !== undefined && secondEnd.stepCount > 0, 'the second input was not worked on');
    same(secondEnd.session.executions.length, 2, 'executions');
  },
  'ends as the user asked when its signal has fired': async ({ runnable, start }) => {
    const end = await runnable.run(start, { signal: AbortSignal.abort('enough') });
    same(end.stopReason, 'user_requested', 'reason');
  },
};

/** What every orchestrator must do, whatever its steps are made of. `make` gives a fresh subject for each case. */
export function runnableConformance<State extends RunState, Event extends BaseEvent = LoopEvent>(
  make: () => RunnableSubject<State, Event>,
): readonly ConformanceCase[] {
  return Object.entries(checks).map(([name, check]) => ({ name, run: () => check(make()) }));
}
