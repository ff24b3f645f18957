import { InvalidArgumentError, isRecord } from '../lib/index.ts';
import { ForeignApprovalError } from './foreign-approval-error.ts';
import type { SessionFacts } from './session.ts';
import type { AnsweredWait, SessionRuntimeOptions } from './runtime-options.ts';

const storeMethods = ['claim', 'write', 'load', 'entries', 'findRequest', 'list', 'quarantine'];

/** Refuses options that a runtime could not work with. */
export function checkedRuntime(options: SessionRuntimeOptions): SessionRuntimeOptions {
  const given: unknown = options;
  if (!isRecord(given)) throw new InvalidArgumentError('createSessionRuntime({ agents, store }) takes an object.');
  const { store, context } = given;
  if (!isRecord(store) || !storeMethods.every((name) => typeof store[name] === 'function'))
    throw new InvalidArgumentError('A session runtime needs a store: createMemoryStore(), or sqliteStore({ path }) of "stepline/sqlite".');
  if (context !== undefined && typeof context !== 'function')
    throw new InvalidArgumentError('context must be a function that gives the context of a run: (session) => …');
  return options;
}

/** Refuses what is no text, or empty. */
export function checkedText(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidArgumentError(`${what} must be text that is not empty, not ${typeof value === 'string' ? 'empty' : typeof value}.`);
}

/** Who a new session is. */
export function checkedFacts({ id, tenant, owner, tags }: Facts): Pick<SessionFacts, 'id' | 'tenant' | 'owner' | 'tags'> {
  if (!Array.isArray(tags)) throw new InvalidArgumentError('tags must be a list of text.');
  return {
    id: checkedText(id, 'The id of a session'),
    tags: [...new Set(tags.map((tag: unknown) => checkedText(tag, 'A tag')))],
    ...(tenant !== undefined && { tenant: checkedText(tenant, 'A tenant') }),
    ...(owner !== undefined && { owner: checkedText(owner, 'An owner') }),
  };
}

interface Facts {
  readonly id: string;
  readonly tenant: string | undefined;
  readonly owner: string | undefined;
  readonly tags: readonly string[];
}

/** What is answered, and in which session it was shown. */
export function checkedWait(sessionId: string, wait: AnsweredWait): { readonly waitId: string; readonly digest?: string } {
  const given: unknown = wait;
  if (!isRecord(given) || typeof given['id'] !== 'string')
    throw new InvalidArgumentError('Hand back the wait that was shown: it has an id and a digest.');
  if (wait.sessionId !== undefined && wait.sessionId !== sessionId)
    throw new ForeignApprovalError(wait.id, { own: sessionId, given: wait.sessionId });
  return { waitId: wait.id, ...(wait.digest !== undefined && { digest: wait.digest }) };
}
