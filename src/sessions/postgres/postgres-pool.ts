/** The result of a statement: the part of pg's results that the store reads. */
export interface PostgresResult {
  readonly rows: readonly unknown[];
}

type ErrorListener = (error: Error) => void;

/** A connection of the pool: the part of pg's PoolClient that the store uses. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  /** Gives the connection back to the pool; true closes it. */
  release(destroy?: boolean): void;
  on?(event: 'error', listener: ErrorListener): unknown;
  removeListener?(event: 'error', listener: ErrorListener): unknown;
}

/** A pool of connections: the part of pg's Pool that the store uses. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on?(event: 'error', listener: ErrorListener): unknown;
  removeListener?(event: 'error', listener: ErrorListener): unknown;
}
