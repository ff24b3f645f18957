import { InvalidArgumentError, isRecord } from '../lib/index.ts';
import { ExecutionStatus } from '../step-by-step/index.ts';
import { ForeignApprovalError } from './foreign-approval-error.ts';
import type { SessionFacts } from './session.ts';
import type { SessionQuery } from './session-store.ts';
import type { AnsweredWait, NewSession, SessionRuntimeOptions } from './runtime-options.ts';

const storeMethods = ['claim', 'write', 'load', 'entries', 'findRequest', 'list', 'quarantine'];

const knownOptions = ['agents', 'store', 'context', 'onVersionChange', 'approvals', 'keepInMemory', 'onEvent', 'onProblem', 'clock', 'ids'];

const isAgent = (agent: unknown): boolean =>
  isRecord(agent) && typeof agent['id'] === 'string' && typeof agent['run'] === 'function' && isRecord(agent['states']);

/** A number of milliseconds that a timer can wait for. */
export function parseMs(value: unknown, what: string): number {
  if (typeof value === 'number' && value >= 0) return value;
  throw new InvalidArgumentError(`${what} must be a number of 0 or more, not ${typeof value === 'number' ? value : typeof value}.`);
}

const knownFilters = ['tenant', 'agentId', 'owner', 'status', 'stopReason', 'tag', 'isOpen', 'wakeBefore', 'limit', 'cursor'];

/** Refuses a filter that would silently let everything through, or nothing. */
export function parseQuery(query: SessionQuery): SessionQuery {
  const strange = Object.keys(query).find((name) => !knownFilters.includes(name));
  if (strange !== undefined)
    throw new InvalidArgumentError(`Sessions cannot be listed by "${strange}"; there are ${knownFilters.join(', ')}.`);
  const { status } = query;
  if (status !== undefined && !Object.values(ExecutionStatus).includes(status))
    throw new InvalidArgumentError(`There is no status "${status}"; there are ${Object.values(ExecutionStatus).join(', ')}.`);
  return query;
}

/** The number of an event to go on behind. */
export function parseSeq(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError(
    `fromSeq must be the number of an event, or 0 for all; it is ${typeof value === 'number' ? value : value === null ? 'null' : typeof value}.`,
  );
}

/** Where a fork is to begin. */
export function parseForkPoint(at: unknown): { readonly execution: number; readonly step: number } {
  const { execution, step } = isRecord(at) ? at : {};
  if (typeof execution === 'number' && typeof step === 'number') return { execution, step };
  throw new InvalidArgumentError('fork(sessionId, { execution, step }, …) takes the numbers of an execution and of a step of it.');
}

/** Refuses options that a runtime could not work with. */
export function parseRuntimeOptions(options: SessionRuntimeOptions): SessionRuntimeOptions {
  const given: unknown = options;
  if (!isRecord(given)) throw new InvalidArgumentError('createSessionRuntime({ agents, store }) takes an object.');
  const strange = Object.keys(given).find((name) => !knownOptions.includes(name));
  if (strange !== undefined)
    throw new InvalidArgumentError(`A session runtime has no option "${strange}"; there are ${knownOptions.join(', ')}.`);
  const { store, context, keepInMemory, agents } = given;
  if (!Array.isArray(agents) || !agents.every(isAgent))
    throw new InvalidArgumentError('agents must be a list of agents, as createAgent() or AgentBuilder make them.');
  if (keepInMemory !== undefined && !(typeof keepInMemory === 'number' && keepInMemory >= 0))
    throw new InvalidArgumentError('keepInMemory must be a number of 0 or more.');
  if (!isRecord(store) || !storeMethods.every((name) => typeof store[name] === 'function'))
    throw new InvalidArgumentError('A session runtime needs a store: createMemoryStore(), or sqliteStore({ path }) of "stepline/sqlite".');
  if (context !== undefined && typeof context !== 'function')
    throw new InvalidArgumentError('context must be a function that gives the context of a run: (session) => …');
  return options;
}

/** Refuses what is no text, or empty. */
export function parseText(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidArgumentError(`${what} must be text that is not empty, not ${typeof value === 'string' ? 'empty' : typeof value}.`);
}

/** What a session is made with. */
export function parseNewSession(session: NewSession): NewSession {
  const given: unknown = session;
  if (isRecord(given)) return session;
  throw new InvalidArgumentError('create({ agent, tenant, owner, tags }, { by }) takes an object; {} will do.');
}

/** Who a new session is. */
export function parseFacts({ id, tenant, owner, tags }: Facts): Pick<SessionFacts, 'id' | 'tenant' | 'owner' | 'tags'> {
  if (!Array.isArray(tags)) throw new InvalidArgumentError('tags must be a list of text.');
  return {
    id: parseText(id, 'The id of a session'),
    tags: [...new Set(tags.map((tag: unknown) => parseText(tag, 'A tag')))],
    ...(tenant !== undefined && { tenant: parseText(tenant, 'A tenant') }),
    ...(owner !== undefined && { owner: parseText(owner, 'An owner') }),
  };
}

interface Facts {
  readonly id: string;
  readonly tenant: string | undefined;
  readonly owner: string | undefined;
  readonly tags: readonly string[];
}

/** What is answered, and in which session it was shown. */
export function parseWait(sessionId: string, wait: AnsweredWait): { readonly waitId: string; readonly digest?: string } {
  const given: unknown = wait;
  if (!isRecord(given) || typeof given['id'] !== 'string')
    throw new InvalidArgumentError('Hand back the wait that was shown: it has an id and a digest.');
  if (wait.sessionId !== undefined && wait.sessionId !== sessionId)
    throw new ForeignApprovalError(wait.id, { own: sessionId, given: wait.sessionId });
  return { waitId: wait.id, ...(wait.digest !== undefined && { digest: wait.digest }) };
}
