// Reads the sessions with a fresh runtime and compares them with the plan and with what really happened outside.
import { isDeepStrictEqual } from 'node:util';
import type { Message, ToolUseStep } from '../src/entry/index.ts';
import { createAgent } from '../src/entry/index.ts';
import type { Session, EmbeddedRuntime } from '../src/sessions/index.ts';
import { createSessionRuntime } from '../src/sessions/index.ts';
import { sqliteStore } from '../src/sessions/sqlite/index.ts';
import type { Figure } from './figures.ts';
import { none, info } from './figures.ts';
import { filesIn } from './orders.ts';
import { answerTo, planCalls, expectedMessages, toKey, toolNames } from './plan.ts';
import type { RecordedCall } from './records.ts';

/** Result of one call, as its session has it. */
interface KnownCall {
  readonly key: string;
  readonly tool: string;
  readonly status: string;
}

interface ReadSession {
  readonly session: Session;
  readonly calls: readonly KnownCall[];
  readonly isAsPlanned: boolean;
  readonly hasDenseEvents: boolean;
}

const withoutId = (message: Message): unknown => ({ ...message.toJSON(), id: '' });

// Holds: these sessions are those of an agent, whose steps have executions.
const listSteps = ({ state }: Session): readonly ToolUseStep[] => state.steps as readonly ToolUseStep[];

function callsIn(session: Session): readonly KnownCall[] {
  return listSteps(session).flatMap(({ executions }, index) =>
    executions.map(({ toolCallId, toolName, status }) => ({
      key: `${session.id}/1/${index + 1}/${toolCallId}`,
      tool: toolName,
      status,
    })),
  );
}

/** Unknown ends are possible for `once` calls only; everything else is as it would have been without any kill. */
function isAsPlanned(session: Session, steps: number): boolean {
  const executions = listSteps(session).flatMap(({ executions }) => executions);
  const unknown = new Set(executions.filter(({ status }) => status === 'unknown').map(({ toolCallId }) => toolCallId));
  const isAllowed = executions.every(
    ({ status, toolName }) => status === 'succeeded' || (status === 'unknown' && toolName === toolNames.once),
  );
  const expected = expectedMessages(session.id, steps, (toolCallId) => unknown.has(toolCallId));
  return isAllowed && isDeepStrictEqual(session.state.messages.toArray().map(withoutId), expected.map(withoutId));
}

async function hasDenseEvents(runtime: EmbeddedRuntime, { id, lastSeq }: Session): Promise<boolean> {
  let seq = 0;
  for await (const event of runtime.events(id)) {
    if (event.seq !== seq + 1) return false;
    seq = event.seq;
  }
  return seq === lastSeq && seq > 0;
}

async function readSessions(runtime: EmbeddedRuntime, ids: readonly string[], steps: number): Promise<readonly ReadSession[]> {
  const found: ReadSession[] = [];
  for (const id of ids) {
    const session = await runtime.get(id);
    found.push({
      session,
      calls: callsIn(session),
      isAsPlanned: isAsPlanned(session, steps),
      hasDenseEvents: await hasDenseEvents(runtime, session),
    });
  }
  return found;
}

/** Every call by what its session knows of it, against every effect by what the world knows of it. */
function checkWorld(calls: readonly KnownCall[], deeds: readonly RecordedCall[], planned: ReadonlySet<string>): readonly Figure[] {
  const times = new Map<string, number>();
  for (const { key } of deeds) times.set(key, (times.get(key) ?? 0) + 1);
  const countTimes = ({ key }: KnownCall): number => times.get(key) ?? 0;
  const once = calls.filter(({ tool }) => tool === toolNames.once);
  const unknown = once.filter(({ status }) => status === 'unknown');
  const onceKeys = new Set(deeds.filter(({ tool }) => tool === toolNames.once).map(({ key }) => key));
  const listKeys = (list: readonly KnownCall[]): readonly string[] => list.map(({ key }) => key);
  const idempotent = calls.filter(({ tool }) => tool === toolNames.idempotent);
  return [
    none(
      '`once` effects run twice',
      [...onceKeys].filter((key) => (times.get(key) ?? 0) > 1),
    ),
    none(
      '`once` calls that succeeded without exactly one effect',
      listKeys(once.filter((call) => call.status === 'succeeded' && countTimes(call) !== 1)),
    ),
    none('`once` calls of unknown end with more than one effect', listKeys(unknown.filter((call) => countTimes(call) > 1))),
    none('`idempotent` calls without an effect', listKeys(idempotent.filter((call) => countTimes(call) < 1))),
    none(
      'effects that no session planned',
      [...times.keys()].filter((key) => !planned.has(key)),
    ),
    info('`once` calls', once.length),
    info('  of unknown end, with their effect', unknown.filter((call) => countTimes(call) === 1).length),
    info('  of unknown end, without it', unknown.filter((call) => countTimes(call) === 0).length),
    info(
      '`idempotent` effects repeated under their key',
      idempotent.reduce((sum, call) => sum + Math.max(0, countTimes(call) - 1), 0),
    ),
  ];
}

function plannedKeys(ids: readonly string[], steps: number): ReadonlySet<string> {
  const stepsBefore = Array.from({ length: steps - 1 }, (_, index) => index + 1);
  return new Set(ids.flatMap((id) => stepsBefore.flatMap((step) => planCalls(id, step, '').map((call) => toKey(id, call)))));
}

/** Opens the store as the next process would, and compares every session. */
export async function checkSessions(
  folder: string,
  deeds: readonly RecordedCall[],
  { ids, steps }: { readonly ids: readonly string[]; readonly steps: number },
): Promise<readonly Figure[]> {
  const ask = async ({ messages }: { readonly messages: readonly Message[] }) => Promise.resolve(answerTo(messages));
  const agent = createAgent({ id: 'chaos', model: { provider: 'chaos', modelId: 'chaos', generate: ask, stream: ask } });
  const store = sqliteStore({ path: filesIn(folder).store });
  const runtime = createSessionRuntime({ agents: [agent], store });
  const { resumed, failed } = await runtime.ready;
  const found = await readSessions(runtime, ids, steps);
  await runtime.drain();
  await store.close();
  const listIds = (list: readonly ReadSession[]): readonly string[] => list.map(({ session }) => session.id);
  const isComplete = ({ session }: ReadSession): boolean => session.status === 'completed' && session.stopReason === 'completed';
  return [
    none('sessions not completed', listIds(found.filter((each) => !isComplete(each)))),
    none('sessions still open', [...resumed, ...failed.map(({ sessionId }) => sessionId)]),
    none('sessions with other than one execution', listIds(found.filter(({ session }) => session.executions !== 1))),
    none('sessions with another number of steps', listIds(found.filter(({ session }) => session.stepCount !== steps))),
    none('wrong transcripts', listIds(found.filter((each) => !each.isAsPlanned))),
    none('sessions whose events, read by the runtime, have a gap', listIds(found.filter((each) => !each.hasDenseEvents))),
    ...checkWorld(
      found.flatMap(({ calls }) => calls),
      deeds,
      plannedKeys(ids, steps),
    ),
  ];
}
