// Failover between DBOS executors without Conductor, over the Postgres database that DBOS has anyway.
// Owns:     the lock that shows that an executor is alive, and the search for executors that are not.
// Does not: protect anything: DBOS lets no executor record a step of a workflow that another one has taken over.
// F1. An executor is alive as long as it holds its lock. Postgres releases it with the connection, however the process ends.
// F2. Whoever gets the lock of another executor resumes its workflows, and releases it: the executor may come back.
// Needs a connection of its own that lasts: session locks do not survive a pooler in transaction mode.

/** A connection of `pg`. */
interface Connection {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
}

/** The part of `DBOS` that is needed. */
interface Dbos {
  readonly executorID: string;
  listWorkflows(filter: {
    status: 'PENDING';
    executorId?: string;
    loadInput: boolean;
    loadOutput: boolean;
  }): Promise<readonly { readonly workflowID: string; readonly executorId?: string }[]>;
  resumeWorkflows(ids: string[]): Promise<unknown>;
}

const lock = (executorId: string): unknown[] => [`executor/${executorId}`];
const pending = { status: 'PENDING', loadInput: false, loadOutput: false } as const;

/** Shows that this executor is alive. Waits until nobody else holds its lock; call it before `DBOS.launch()`. */
export async function holdLiveness(connection: Connection, executorId: string): Promise<void> {
  await connection.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', lock(executorId));
}

/** Resumes the workflows of an executor, unless it is alive. Returns their ids. */
async function resumeAll(connection: Connection, dbos: Dbos, executorId: string): Promise<readonly string[]> {
  const { rows } = await connection.query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken', lock(executorId));
  if (rows[0]?.['taken'] !== true) return [];
  try {
    const workflows = await dbos.listWorkflows({ ...pending, executorId });
    const ids = workflows.map(({ workflowID }) => workflowID);
    if (ids.length > 0) await dbos.resumeWorkflows(ids);
    return ids;
  } finally {
    await connection.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', lock(executorId));
  }
}

/** Resumes the workflows of all executors that are not alive. Returns their ids. Any number of executors may do this at once. */
export async function takeOver(connection: Connection, dbos: Dbos): Promise<readonly string[]> {
  const workflows = await dbos.listWorkflows(pending);
  const executors = new Set(workflows.flatMap(({ executorId }) => (executorId === undefined ? [] : [executorId])));
  executors.delete(dbos.executorID);
  const resumed: string[] = [];
  for (const executorId of executors) resumed.push(...(await resumeAll(connection, dbos, executorId)));
  return resumed;
}

interface FailoverOptions {
  readonly connection: Connection;
  readonly dbos: Dbos;
  /** @default 1000 */
  readonly everyMs?: number;
  readonly onTakeover?: (workflowIds: readonly string[]) => void;
  readonly onProblem: (error: unknown) => void;
}

/** Looks for executors that are not alive, again and again. Returns a function that ends it. */
export function startFailover({ connection, dbos, everyMs = 1000, onTakeover, onProblem }: FailoverOptions): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    try {
      const ids = await takeOver(connection, dbos);
      if (ids.length > 0) onTakeover?.(ids);
    } catch (error) {
      onProblem(error);
    }
    if (!isOver) timer = setTimeout(() => void look(), everyMs);
  };
  void look();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
