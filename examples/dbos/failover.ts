// Failover between DBOS executors without Conductor, using only the Postgres database that DBOS already has.
// Owns:     the lock that shows that an executor is alive, and the search for dead executors.
// Does not: prevent double writes: DBOS already refuses a step of a workflow that another executor has taken over.
// F1. An executor is alive as long as it holds its lock. Postgres releases the lock when the connection ends, however the process dies.
// F2. An executor that gets the lock of another one resumes its workflows and releases the lock, so that the other one can come back.
// Needs a permanent connection of its own: session locks do not work through a pooler in transaction mode.

/** A connection of `pg`. */
interface Connection {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
}

/** The part of `DBOS` that is used here. */
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

/** Takes the lock that shows that this executor is alive. Waits until nobody else holds it. Call it before `DBOS.launch()`. */
export async function holdLiveness(connection: Connection, executorId: string): Promise<void> {
  await connection.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', lock(executorId));
}

/** Resumes the workflows of an executor, unless it is alive. Returns the workflow ids. */
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

/** Resumes the workflows of all dead executors. Returns the workflow ids. Any number of executors may call it at once. */
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

/** Checks for dead executors at an interval. Returns a function that stops it. */
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
