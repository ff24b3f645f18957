// Checks of the options of a session runtime.
import { checkKeys, describeValue, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { RuntimeRole } from '../core/session-runtime.ts';
import type { SessionRuntimeOptions } from './runtime-options.ts';

const storePorts = ['log', 'heads', 'leases', 'inbox', 'notes', 'feed', 'changes'];

const knownOptions = [
  ...[
    'agents',
    'states',
    'store',
    'role',
    'context',
    'onVersionChange',
    'approvals',
    'onOutage',
    'maxRecoveries',
    'maxConcurrent',
    'keepInMemory',
  ],
  ...['onEvent', 'onProblem', 'name', 'silenceMs', 'heartbeatClock', 'clock', 'ids'],
];

const isAgent = (agent: unknown): boolean =>
  isRecord(agent) && typeof agent['id'] === 'string' && typeof agent['run'] === 'function' && isRecord(agent['states']);

const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;

function assert(isValid: boolean, message: string): asserts isValid {
  if (!isValid) throw new InvalidArgumentError(message);
}

/** Refuses options that a runtime could not work with. */
export function parseRuntimeOptions(options: SessionRuntimeOptions): SessionRuntimeOptions {
  const given: unknown = options;
  assert(
    isRecord(given),
    `createSessionRuntime() needs an object of options, not ${describeValue(given)}. Pass at least { agents, store }.`,
  );
  checkKeys('createSessionRuntime()', options, knownOptions);
  const { store, context, keepInMemory, maxRecoveries, maxConcurrent, agents, approvals, onOutage } = given;
  assert(Array.isArray(agents), `createSessionRuntime() needs agents: a list of agents, not ${describeValue(agents)}.`);
  const wrong = agents.findIndex((agent) => !isAgent(agent));
  assert(
    wrong === -1,
    `createSessionRuntime(): agents[${wrong}] must be an agent, not ${describeValue(agents[wrong])}. Create it with createAgent() or AgentBuilder.`,
  );
  assert(
    agents.length > 0 || given['role'] === RuntimeRole.Client,
    'createSessionRuntime() needs agents: a list of at least one. Only role "client" works without.',
  );
  const roles: readonly unknown[] = Object.values(RuntimeRole);
  assert(
    given['role'] === undefined || roles.includes(given['role']),
    `role must be "worker" or "client", not ${describeValue(given['role'])}.`,
  );
  assert(
    keepInMemory === undefined || isAmount(keepInMemory),
    `keepInMemory must be a number of 0 or more, not ${describeValue(keepInMemory)}.`,
  );
  assert(
    given['silenceMs'] === undefined || isAmount(given['silenceMs']),
    `silenceMs must be a number of milliseconds, 0 or more, not ${describeValue(given['silenceMs'])}.`,
  );
  assert(given['name'] === undefined || typeof given['name'] === 'string', `name must be a string, not ${describeValue(given['name'])}.`);
  assertCount(maxRecoveries, 'maxRecoveries', 0);
  assertCount(maxConcurrent, 'maxConcurrent', 1);
  assert(
    isRecord(store) && storePorts.every((name) => isRecord(store[name])),
    `createSessionRuntime() needs a store, not ${describeValue(store)}. Use createMemoryStore(), sqliteStore({ path }) from "stepline/sqlite", or postgresStore({ pool }) from "stepline/postgres".`,
  );
  assert(
    context === undefined || typeof context === 'function',
    `context must be a function that returns the context of a run, such as (session) => ({ db }), not ${describeValue(context)}.`,
  );
  assert(
    onOutage === undefined || onOutage === 'fail' || onOutage === 'park' || isOutageRule(onOutage),
    `onOutage must be "fail", "park" or { maxMs } with a number above 0, not ${describeValue(onOutage)}.`,
  );
  if (approvals !== undefined) {
    assert(isRecord(approvals), `approvals must be an object with expireAfterMs, not ${describeValue(approvals)}.`);
    checkApprovals(approvals);
  }
  return options;
}

/** Refuses anything but a whole number, or Infinity, of at least so much. */
function assertCount(value: unknown, name: string, least: number): void {
  const isCount = typeof value === 'number' && value >= least && (Number.isSafeInteger(value) || value === Number.POSITIVE_INFINITY);
  assert(value === undefined || isCount, `${name} must be a whole number of ${least} or more, or Infinity, not ${describeValue(value)}.`);
}

function isOutageRule(value: unknown): boolean {
  if (!isRecord(value) || Object.keys(value).some((name) => name !== 'maxMs')) return false;
  return Number.isFinite(value['maxMs']) && Number(value['maxMs']) > 0;
}

function checkApprovals(approvals: Readonly<Record<string, unknown>>): void {
  checkKeys('approvals', approvals, ['expireAfterMs', 'whenExpired']);
  const { expireAfterMs, whenExpired = 'reject' } = approvals;
  assert(
    Number.isFinite(expireAfterMs) && Number(expireAfterMs) > 0,
    `approvals.expireAfterMs must be a number above 0, not ${describeValue(expireAfterMs)}.`,
  );
  assert(
    whenExpired === 'reject' || whenExpired === 'approve',
    `approvals.whenExpired must be "reject" or "approve", not ${describeValue(whenExpired)}.`,
  );
}
