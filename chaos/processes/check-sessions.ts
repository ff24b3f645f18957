// The sessions as a client reads them, against the plan and against the outside world.
import { isDeepStrictEqual } from 'node:util';
import type { Message, ToolUseStep } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, Session } from '../../src/sessions/index.ts';
import type { Figure } from '../figures.ts';
import { none, info } from '../figures.ts';
import { hashEvent } from './follow.ts';
import { isUnknownHelp, spawn } from './helper.ts';
import { createKey, isOnce, planCalls, planMessages, tools } from './plan.ts';
import type { WorldEffect } from './records.ts';

/** A call as its session knows it. */
interface KnownCall {
  readonly key: string;
  readonly tool: string;
  readonly status: string;
}

export interface ReadSession {
  readonly session: Session;
  /** Hashes of its events, in their order. */
  readonly events: readonly string[];
}

export async function readSessions(runtime: EmbeddedRuntime, ids: readonly string[]): Promise<readonly ReadSession[]> {
  const found: ReadSession[] = [];
  for (const id of ids) {
    const events: string[] = [];
    for await (const event of runtime.events(id)) events.push(hashEvent(event));
    found.push({ session: await runtime.get(id), events });
  }
  return found;
}

// Holds: these sessions are those of an agent, whose steps have executions.
export const getSteps = ({ state }: Session): readonly ToolUseStep[] => state.steps as readonly ToolUseStep[];

type Execution = ToolUseStep['executions'][number];

/** Status of a call, or of the one that the helper has made for it. */
const getStatus = ({ toolName, status, output }: Execution): string => (toolName === spawn && isUnknownHelp(output) ? 'unknown' : status);

const readCalls = (session: Session): readonly KnownCall[] =>
  getSteps(session).flatMap(({ executions }, index) =>
    executions.map((execution) => ({
      key: createKey(session.id, index + 1, execution.toolCallId),
      tool: execution.toolName === spawn ? tools.inner : execution.toolName,
      status: getStatus(execution),
    })),
  );

const withoutId = (message: Message): unknown => ({ ...message.toJSON(), id: '' });

/** True if the conversation is as planned. Only calls that must not run twice may have unknown ends. */
function isAsPlanned(session: Session, steps: number): boolean {
  const executions = getSteps(session).flatMap((step) => step.executions);
  const unknown = new Set(executions.filter((each) => getStatus(each) === 'unknown').map(({ toolCallId }) => toolCallId));
  const isAllowed = executions.every(({ status, toolName }) => status === 'succeeded' || (status === 'unknown' && isOnce(toolName)));
  const planned = planMessages(session.id, steps, (toolCallId) => unknown.has(toolCallId));
  return isAllowed && isDeepStrictEqual(session.state.messages.toArray().map(withoutId), planned.map(withoutId));
}

function checkWorld(calls: readonly KnownCall[], effects: readonly WorldEffect[], planned: ReadonlySet<string>): readonly Figure[] {
  const times = new Map<string, number>();
  for (const { key } of effects) times.set(key, (times.get(key) ?? 0) + 1);
  const count = ({ key }: KnownCall): number => times.get(key) ?? 0;
  const getKeys = (list: readonly KnownCall[]): readonly string[] => list.map(({ key }) => key);
  const once = calls.filter(({ tool }) => isOnce(tool));
  const unknown = once.filter(({ status }) => status === 'unknown');
  const onceKeys = new Set(effects.filter(({ tool }) => isOnce(tool)).map(({ key }) => key));
  const idempotent = calls.filter(({ tool }) => tool === tools.idempotent);
  return [
    none(
      '`once` effects run twice',
      [...onceKeys].filter((key) => (times.get(key) ?? 0) > 1),
    ),
    none(
      '`once` calls that succeeded without exactly one effect',
      getKeys(once.filter((call) => call.status === 'succeeded' && count(call) !== 1)),
    ),
    none('`idempotent` calls without an effect', getKeys(idempotent.filter((call) => count(call) < 1))),
    none(
      'effects that no session planned',
      [...times.keys()].filter((key) => !planned.has(key)),
    ),
    info('  `once` calls', once.length),
    info('  of unknown end, with their effect', unknown.filter((call) => count(call) === 1).length),
    info('  of unknown end, without it', unknown.filter((call) => count(call) === 0).length),
  ];
}

function planKeys(ids: readonly string[], steps: number): ReadonlySet<string> {
  const before = Array.from({ length: steps - 1 }, (_, index) => index + 1);
  return new Set(
    ids.flatMap((id) => before.flatMap((step) => planCalls(id, step, '').map((call) => createKey(id, step, call.toolCallId)))),
  );
}

export function checkSessions(found: readonly ReadSession[], effects: readonly WorldEffect[], steps: number): readonly Figure[] {
  const sessions = found.map(({ session }) => session);
  const name = (list: readonly Session[]): readonly string[] => list.map((session) => `${session.id}: ${session.explain()}`);
  const isComplete = ({ status, stopReason }: Session): boolean => status === 'completed' && stopReason === 'completed';
  return [
    none('sessions lost: not completed', name(sessions.filter((session) => !isComplete(session)))),
    none('sessions with other than one execution', name(sessions.filter(({ executions }) => executions !== 1))),
    none('sessions with another number of steps', name(sessions.filter(({ stepCount }) => stepCount !== steps))),
    none(
      'sessions wrong: another conversation than planned',
      sessions.filter((session) => !isAsPlanned(session, steps)).map(({ id }) => id),
    ),
    ...checkWorld(
      sessions.flatMap(readCalls),
      effects,
      planKeys(
        sessions.map(({ id }) => id),
        steps,
      ),
    ),
  ];
}
