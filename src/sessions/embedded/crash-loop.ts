// A step that ends the process each time it is resumed.
import type { EventHeader } from '../../events/index.ts';
import type { BaseEvent } from '../../events/index.ts';
import { AgentFinished, AgentStateUpdated, toEventWait } from '../../step-by-step/index.ts';
import { CrashLoopDetected } from '../core/action-events.ts';
import { toExecutionId } from '../core/execution-id.ts';
import type { SessionLog } from './session-log.ts';

/** Makes a session wait for somebody who resumes or cancels it. Settles with the events when that is stored. */
export async function storeCrashLoop(log: SessionLog, orchestrator: string): Promise<readonly BaseEvent[]> {
  const { state, recoveries, services } = log;
  const { execution, data, stepCount, usage } = state;
  const since = services.clock.now();
  // An execution whose first step is open has no id yet: it gets the one that a run would give it.
  const { id = toExecutionId(log.id, execution.number), startedAt = since } = execution;
  const looping = state.evolve({ execution: { ...execution, id, startedAt, crashLoop: { attempts: recoveries, since } } });
  let { lastSeq } = data;
  const next = (): EventHeader => {
    lastSeq += 1;
    const { agentId, parentAgentId } = data;
    const agentName = log.facts.agent.id;
    return {
      id: `${id}/${lastSeq}`,
      seq: lastSeq,
      at: since,
      agentId,
      agentName,
      parentAgentId,
      sessionId: log.id,
      executionId: id,
      stepNumber: stepCount + 1,
    };
  };
  const { status } = looping;
  const events = [
    new CrashLoopDetected(next(), { attempts: recoveries, waitId: looping.waitingFor[0]?.id ?? '' }),
    new AgentStateUpdated(next(), orchestrator, { status, stepCount }),
    new AgentFinished(next(), orchestrator, { status, stepCount, usage, errors: [], waitingFor: looping.waitingFor.map(toEventWait) }),
  ];
  await log.append({}, { state: looping.evolve({ lastSeq }), events });
  return events;
}
