// Checks of the options of a session runtime.
import { checkKeys, describeValue, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { RuntimeRole } from '../core/session-runtime.ts';
import type { SessionRuntimeOptions } from './runtime-options.ts';

const storePorts = ['log', 'heads', 'leases', 'inbox', 'notes', 'feed', 'changes'];

const isAgent = (agent: unknown): boolean =>
  isRecord(agent) && typeof agent['id'] === 'string' && typeof agent['run'] === 'function' && isRecord(agent['states']);

const isAmount = (value: unknown): boolean => typeof value === 'number' && value >= 0;

const isAbove0 = (value: unknown): boolean => Number.isFinite(value) && Number(value) > 0;

const isFunction = (value: unknown): boolean => typeof value === 'function';

const isCount = (value: unknown, least: number): boolean =>
  isAmount(value) && Number(value) >= least && (Number.isSafeInteger(value) || value === Number.POSITIVE_INFINITY);

const isOutageRule = (value: unknown): boolean =>
  isRecord(value) && Object.keys(value).every((name) => name === 'maxMs') && isAbove0(value['maxMs']);

/** Description of the values that an option takes, and the check for them. */
type Rule = readonly [what: string, fits: (value: unknown) => boolean, isRequired?: true];

/** Options whose values are checked alike. */
const rules: Readonly<Record<string, Rule>> = {
  role: ['"worker" or "client"', (value) => value === RuntimeRole.Worker || value === RuntimeRole.Client],
  keepInMemory: ['a number of 0 or more', isAmount],
  silenceMs: ['a number of milliseconds, 0 or more', isAmount],
  name: ['a string', (value) => typeof value === 'string'],
  maxRecoveries: ['a whole number of 0 or more, or Infinity', (value) => isCount(value, 0)],
  maxConcurrent: ['a whole number of 1 or more, or Infinity', (value) => isCount(value, 1)],
  context: ['a function that returns the context of a run, such as (session) => ({ db })', isFunction],
  onOutage: ['"fail", "park" or { maxMs } with a number above 0', (value) => value === 'fail' || value === 'park' || isOutageRule(value)],
  approvals: ['an object with expireAfterMs', isRecord],
};

const approvalRules: Readonly<Record<string, Rule>> = {
  expireAfterMs: ['a number above 0', isAbove0, true],
  whenExpired: ['"reject" or "approve"', (value) => value === 'reject' || value === 'approve'],
};

const otherOptions = ['agents', 'states', 'store', 'onVersionChange', 'onEvent', 'onProblem', 'heartbeatClock', 'clock', 'ids'];

function assert(isValid: boolean, message: string): asserts isValid {
  if (!isValid) throw new InvalidArgumentError(message);
}

function checkRules(given: Readonly<Record<string, unknown>>, checked: Readonly<Record<string, Rule>>, of = ''): void {
  for (const [name, [what, fits, isRequired = false]] of Object.entries(checked))
    assert(
      (given[name] === undefined && !isRequired) || fits(given[name]),
      `${of}${name} must be ${what}, not ${describeValue(given[name])}.`,
    );
}

/** Refuses options that a runtime could not work with. */
export function parseRuntimeOptions(options: SessionRuntimeOptions): SessionRuntimeOptions {
  const given: unknown = options;
  assert(
    isRecord(given),
    `createSessionRuntime() needs an object of options, not ${describeValue(given)}. Pass at least { agents, store }.`,
  );
  checkKeys('createSessionRuntime()', options, [...otherOptions, ...Object.keys(rules)]);
  const { store, agents, approvals } = given;
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
  assert(
    isRecord(store) && storePorts.every((name) => isRecord(store[name])),
    `createSessionRuntime() needs a store, not ${describeValue(store)}. Use createMemoryStore(), sqliteStore({ path }) from "stepline/sqlite", or postgresStore({ pool }) from "stepline/postgres".`,
  );
  checkRules(given, rules);
  if (!isRecord(approvals)) return options;
  checkKeys('approvals', approvals, Object.keys(approvalRules));
  checkRules(approvals, approvalRules, 'approvals.');
  return options;
}
