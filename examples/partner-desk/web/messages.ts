// Messages between the supervisor and its child processes, over the channel that comes with a child.

/** Settings of every child. */
export interface ChildSettings {
  /** File of the sessions. */
  readonly db: string;
}

export interface WorkerSettings extends ChildSettings {
  readonly name: string;
  readonly offline: boolean;
  /** True if every event is printed to the error output. */
  readonly log: boolean;
}

export interface WebSettings extends ChildSettings {
  /** 0 for any. */
  readonly port: number;
  /** Key for tokens, so that those of a server that died are still good. */
  readonly secret: string;
}

export interface EveningSettings extends ChildSettings {
  /** Id of the session to create. */
  readonly sessionId: string;
}

/** Messages to a child. */
export type ToChild =
  | { readonly type: 'start'; readonly settings: ChildSettings }
  | { readonly type: 'end' }
  /** The evening that the web server asked for is over. */
  | { readonly type: 'evening-ended'; readonly sessionId: string; readonly problem?: string };

/** Reasons why a child could not start. */
export interface ChildFailure {
  readonly type: 'failed';
  readonly reason: 'port-taken' | 'unusable';
  readonly message: string;
}

export interface ChildReady {
  readonly type: 'ready';
  /** Port of the web server. */
  readonly port?: number;
}

/** Messages of the web server, for the tour. */
export type TourRequest =
  { readonly type: 'kill-worker'; readonly pid: number } | { readonly type: 'play-evening'; readonly sessionId: string };

/** Messages from a child. */
export type FromChild = ChildReady | ChildFailure | TourRequest;
