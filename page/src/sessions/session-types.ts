// Lists as the server sends them.

/** Something that a session in the list waits for. */
export interface ListedSessionWait {
  readonly wait_id: string;
  readonly type: string;
  readonly tool?: string;
}

/** A session in the list. */
export interface ListedSession {
  readonly session_id: string;
  readonly agent: { readonly id: string };
  readonly status: string;
  readonly stop_reason?: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly step_count: number;
  readonly last_seq: number;
  readonly waiting_for: readonly ListedSessionWait[];
}

/** Something that waits for somebody, in any session. */
export interface ListedWait {
  readonly session_id: string;
  readonly agent: string;
  readonly wait_id: string;
  readonly type: string;
  readonly tool?: string;
  readonly limit?: string;
  readonly summary?: string;
  readonly since: string;
  readonly expires_at?: string;
}
