/** Points at which a hook may be called. The first eight come before the judgement; `executionEnd` looks back on it. */
export const HookPoint = {
  /** Before a start is judged. */
  ExecutionStart: 'execution_start',
  BeforeStep: 'before_step',
  BeforeInference: 'before_inference',
  AfterInference: 'after_inference',
  BeforeTool: 'before_tool',
  AfterTool: 'after_tool',
  /** After a step was produced: before it is judged, or, for a hook that changes nothing, after it was recorded. */
  AfterStep: 'after_step',
  /** The same for a step that failed. */
  OnError: 'on_error',
  /** After an execution has ended. */
  ExecutionEnd: 'execution_end',
} as const;
export type HookPoint = (typeof HookPoint)[keyof typeof HookPoint];

/** The name of the handler for each point. */
export const handlerNames: {
  readonly execution_start: 'executionStart';
  readonly before_step: 'beforeStep';
  readonly before_inference: 'beforeInference';
  readonly after_inference: 'afterInference';
  readonly before_tool: 'beforeTool';
  readonly after_tool: 'afterTool';
  readonly after_step: 'afterStep';
  readonly on_error: 'onError';
  readonly execution_end: 'executionEnd';
} = {
  execution_start: 'executionStart',
  before_step: 'beforeStep',
  before_inference: 'beforeInference',
  after_inference: 'afterInference',
  before_tool: 'beforeTool',
  after_tool: 'afterTool',
  after_step: 'afterStep',
  on_error: 'onError',
  execution_end: 'executionEnd',
};

export const hookPoints: readonly HookPoint[] = Object.values(HookPoint);
