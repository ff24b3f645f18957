import type { BaseEvent } from '../events/index.ts';
import type { RunState, StepByStep } from '../step-by-step/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same } from './conformance.ts';

/** An orchestrator, or a loop, under test, with a state that it can run to its end. */
export interface OrchestratorSubject<State extends RunState> {
  readonly orchestrator: StepByStep<NoInfer<State>>;
  /** A state with something to do, which ends without help. */
  readonly start: State;
  /** A stored state, read again. */
  readonly restore: (stored: string) => State;
}

const facts = (state: RunState): unknown => [state.status, state.stopReason, state.stepCount, state.usage, state.text];
const outcomes = (state: RunState): unknown => state.stepResults.map(({ outcome }) => outcome);

type Check = <State extends RunState>(subject: OrchestratorSubject<State>) => Promise<void>;

const checks: Readonly<Record<string, Check>> = {
  'says without side effects that there is something to do': async ({ orchestrator, start }) => {
    const before = JSON.stringify(start);
    holds(orchestrator.hasNextStep(start) && orchestrator.hasNextStep(start), 'there was nothing to do');
    holds(JSON.stringify(start) === before, 'asking changed the state');
  },
  'ends with a reason, on the state and on the last step': async ({ orchestrator, start }) => {
    const end = await orchestrator.run(start);
    holds(end.stopReason !== undefined, 'it ended without a reason');
    same(end.lastStepResult?.stopReason, end.stopReason, 'reason on the last step');
    holds(!orchestrator.hasNextStep(end), 'it ended with something left to do');
  },
  'comes to the same end however it is driven': async ({ orchestrator, start }) => {
    const end = await orchestrator.run(start);
    let iterated = start;
    for await (const state of orchestrator.iterate(start)) iterated = state;
    let stepped = start;
    while (orchestrator.hasNextStep(stepped)) stepped = await orchestrator.nextStep(stepped);
    const { state: streamed } = await orchestrator.start(start).result;
    for (const other of [iterated, stepped, streamed]) same(facts(other), facts(end), 'the end');
  },
  'leaves the state it was given as it was': async ({ orchestrator, start }) => {
    const before = JSON.stringify(start);
    await orchestrator.run(start);
    holds(JSON.stringify(start) === before, 'the run changed the state it was given');
  },
  'does nothing with a state that has ended': async ({ orchestrator, start }) => {
    const end = await orchestrator.run(start);
    holds((await orchestrator.run(end)) === end && (await orchestrator.nextStep(end)) === end, 'an ended state came back changed');
  },
  'tells of each decision once, in order, and of the end last': async ({ orchestrator, start }) => {
    const events: BaseEvent[] = [];
    const end = await orchestrator.run(start, { onEvent: (event) => events.push(event) });
    const numbered = events.filter(({ id }) => !id.includes('.'));
    const expected = numbered.map((_, index) => start.data.lastSeq + index + 1);
    same(
      numbered.map(({ seq }) => seq),
      expected,
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
  'goes on after being stored at any step as if nothing had happened': async ({ orchestrator, start, restore }) => {
    const end = await orchestrator.run(start);
    let state = restore(JSON.stringify(start));
    while (orchestrator.hasNextStep(state)) state = restore(JSON.stringify(await orchestrator.nextStep(state)));
    same(facts(state), facts(end), 'the end');
  },
  'takes a second input after it has ended, also after being stored': async ({ orchestrator, start, restore }) => {
    const end = restore(JSON.stringify(await orchestrator.run(start)));
    const again = end.withUserMessage('And now?');
    same([again.status, again.stepCount, again.usage.total], ['pending', 0, 0], 'the new execution');
    const secondEnd = await orchestrator.run(again);
    holds(secondEnd.stopReason !== undefined && secondEnd.stepCount > 0, 'the second input was not worked on');
    same(secondEnd.session.executions.length, 2, 'executions');
  },
  'ends as the user asked when its signal has fired': async ({ orchestrator, start }) => {
    const end = await orchestrator.run(start, { signal: AbortSignal.abort('enough') });
    same(end.stopReason, 'user_requested', 'reason');
  },
};

/** Promises that every orchestrator must keep, whatever its steps are made of. `make` returns a fresh subject for each case. */
export function orchestratorConformance<State extends RunState>(make: () => OrchestratorSubject<State>): readonly ConformanceCase[] {
  return Object.entries(checks).map(([name, check]) => ({ name, run: () => check(make()) }));
}
