// Actions on every session that matches a filter.
// B1. A filter without a field is refused: nothing is done to all sessions by mistake.
// B2. A session that cannot be acted on, because it ended or was deleted meanwhile, does not keep the others from it.
import { InvalidArgumentError, SteplineError } from '../../lib/index.ts';
import { exportSession } from '../core/export-session.ts';
import { parseActionOptions, parseQuery } from '../core/parse-input.ts';
import type { ExportedSession, SessionFilter, SessionRuntime } from '../core/session-runtime.ts';
import { listAll } from '../store/session-store.ts';
import type { SessionHost } from './session-host.ts';

type BulkMethod = 'cancelAll' | 'deleteAll' | 'export';

interface BulkServices extends Pick<SessionRuntime, 'cancel' | 'delete'> {
  readonly host: SessionHost;
}

const filters = ['tenant', 'agentName', 'owner', 'status', 'stopReason', 'tag', 'updatedBefore'] as const;

function parseFilter(method: BulkMethod, filter: SessionFilter): SessionFilter {
  const query = parseQuery(filter, { method, known: filters });
  if (Object.keys(query).length > 0) return query;
  throw new InvalidArgumentError(
    `${method}() needs a filter, so that it does not act on all sessions. Pass at least one of ${filters.join(', ')}.`,
  );
}

/** Errors of a session that has changed since it was listed. */
const passing = ['unknown-session', 'session-deleted'];

/** Ids of matching sessions, found before anything is done: acting on one may change which match. */
async function findIds({ store }: SessionHost, filter: SessionFilter): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of listAll(store, filter)) ids.push(id);
  return ids;
}

async function countDone(ids: readonly string[], act: (id: string) => Promise<unknown>): Promise<number> {
  let done = 0;
  for (const id of ids) {
    try {
      await act(id);
      done += 1;
    } catch (error) {
      if (!SteplineError.is(error) || !passing.includes(error.code)) throw error;
    }
  }
  return done;
}

/** Methods that act on every session that matches. */
export function createBulkActions({ host, cancel, delete: remove }: BulkServices): Pick<SessionRuntime, BulkMethod> {
  return {
    cancelAll: async (given, reason, options) => {
      const { by } = parseActionOptions(options, 'cancelAll');
      const filter = parseFilter('cancelAll', given);
      const ids = new Set<string>();
      for (const status of ['pending', 'in_progress', 'waiting'] as const)
        for (const id of await findIds(host, { ...filter, status }))
          if (filter.status === undefined || filter.status === status) ids.add(id);
      return countDone([...ids], (id) => cancel(id, reason, { by, until: 'accepted' }));
    },
    deleteAll: async (given, options) => {
      const { by, until = 'rest' } = parseActionOptions(options, 'deleteAll');
      const filter = parseFilter('deleteAll', given);
      return countDone(await findIds(host, filter), (id) => remove(id, { by, until }));
    },
    export: (given) => {
      const filter = parseFilter('export', given);
      return exportAll(host, filter);
    },
  };
}

async function* exportAll({ store, agents }: SessionHost, filter: SessionFilter): AsyncGenerator<ExportedSession, void, undefined> {
  for await (const listed of listAll(store, filter)) {
    const exported = await exportSession(store, listed, agents.findStates);
    if (exported !== undefined) yield exported;
  }
}
