/** The result of a statement: the part of pg's results that the store reads. */
export interface PostgresResult {
  readonly rows: readonly unknown[];
}

type ErrorListener = (error: Error) => void;

/** A message that `NOTIFY` sent: the part of pg's notifications that the store reads. */
export interface PostgresNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

type NotificationListener = (notification: PostgresNotification) => void;

/** A connection of the pool: the part of pg's PoolClient that the store uses. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  /** Gives the connection back to the pool; true closes it. */
  release(destroy?: boolean): void;
  on?(event: 'error', listener: ErrorListener): unknown;
  /** Without it the store looks for changes every second. */
  on?(event: 'notification', listener: NotificationListener): unknown;
  removeListener?(event: 'error', listener: ErrorListener): unknown;
  removeListener?(event: 'notification', listener: NotificationListener): unknown;
  /** Number of the server's process, as pg knows it. Another one answers if a pooler is in between. */
  readonly processID?: number | null;
  /** Lets the process end though the connection is open. */
  unref?(): unknown;
}

/** A pool of connections: the part of pg's Pool that the store uses. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on?(event: 'error', listener: ErrorListener): unknown;
  removeListener?(event: 'error', listener: ErrorListener): unknown;
  /** Size of the pool. A pool of one connection has none to listen with. */
  readonly options?: { readonly max?: number | undefined };
  /** True once it is ending. It waits for the connection that listens, which is then given back within a second. */
  readonly ending?: boolean;
}
