/** The part of `DBOS` from `@dbos-inc/dbos-sdk` that dbosEngine() uses. */
export interface DbosApi {
  readonly workflowID: string | undefined;
  /** Id of this process, to notice that another one has taken a workflow over. */
  readonly executorID?: string;
  runStep<Value>(step: () => Promise<Value>, config?: { readonly name?: string }): Promise<Value>;
  sleepms(ms: number): Promise<void>;
  listWorkflows(filter: {
    workflowIDs?: string[];
    loadInput?: boolean;
    loadOutput?: boolean;
  }): Promise<readonly { readonly workflowID: string; readonly status: string; readonly executorId?: string }[]>;
}
