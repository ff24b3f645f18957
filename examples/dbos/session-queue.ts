// Sessions that a queue of DBOS runs, without a worker of their own. Their log stays in the store of the runtime.
// Owns:     the calls of `runOnce` that are due, as workflows of the queue: DBOS repeats those of a process that died.
// Does not: start a workflow for an action by itself: enqueue the session after each one.
// Q1. A workflow that leaves something to do enqueues the next one before it ends, so there is always one to come.
// Q2. Workflows for the same time have the same id: a session that waits has one to come, however often it was enqueued.
import type { EmbeddedRuntime } from 'stepline/sessions';

type Workflow = (sessionId: string, calledFor: number) => Promise<void>;

/** The part of `DBOS` that is used here. */
interface Dbos {
  registerWorkflow(workflow: Workflow, options: { name: string }): Workflow;
  startWorkflow(
    workflow: Workflow,
    options: { workflowID: string; queueName: string; enqueueOptions: { delaySeconds: number } },
  ): (...args: Parameters<Workflow>) => Promise<unknown>;
  runStep<Value>(
    step: () => Promise<Value>,
    options: {
      name: string;
      retriesAllowed: true;
      maxAttempts: number;
      backoffRate: number;
      shouldRetry: (error: unknown) => boolean;
    },
  ): Promise<Value>;
  now(): Promise<number>;
}

interface SessionQueueOptions {
  readonly dbos: Dbos;
  /** Runtime with the agents and role `client`: it runs nothing but what the queue asks for. */
  readonly runtime: EmbeddedRuntime;
  /** A queue that is registered with `DBOS.registerQueue`. @default 'sessions' */
  readonly queueName?: string;
  /** Time after which a session is left between two steps, to the next workflow. @default 60 s */
  readonly untilMs?: number;
  /** Delay before a session is tried again that was left, or that another worker runs. @default 1 s */
  readonly retryMs?: number;
}

/** Errors that do not pass. Any other, such as a store that cannot be reached, is tried again. */
const lasting = ['unknown-session', 'session-deleted', 'session-damaged', 'invalid-argument'];
const shouldRetry = (error: unknown): boolean => !(error instanceof Error && 'code' in error && lasting.includes(String(error.code)));

/** Tries for an hour, once a second. */
const retries = { retriesAllowed: true, maxAttempts: 3600, backoffRate: 1, shouldRetry } as const;

/**
 * Registers the workflow: call it before `DBOS.launch()`. Returns a function that enqueues a session; pass the request id of the action,
 * so that it can be repeated too.
 */
export function createSessionQueue(options: SessionQueueOptions): (sessionId: string, requestId: string) => Promise<void> {
  const { dbos, runtime, queueName = 'sessions', untilMs = 60_000, retryMs = 1000 } = options;
  const workflow = dbos.registerWorkflow(
    async (sessionId, calledFor) => {
      const { isDone, wakeAt = 0 } = await dbos.runStep(
        async () => {
          const ran = await runtime.runOnce(sessionId, { untilMs });
          if (ran.type !== 'rested') return { isDone: false };
          return ran.wakeAt === undefined ? { isDone: true } : { isDone: false, wakeAt: ran.wakeAt };
        },
        { name: 'runOnce', ...retries },
      );
      if (isDone) return;
      const now = await dbos.now();
      // By another clock, this workflow may be early: the next one needs another id.
      const at = Math.max(wakeAt, now + retryMs, calledFor + 1);
      const enqueueOptions = { delaySeconds: (at - now) / 1000 };
      await dbos.startWorkflow(workflow, { workflowID: `${sessionId} at ${at}`, queueName, enqueueOptions })(sessionId, at);
    },
    { name: 'runSession' },
  );
  return async (sessionId, requestId) => {
    const workflowID = `${sessionId} after ${requestId}`;
    await dbos.startWorkflow(workflow, { workflowID, queueName, enqueueOptions: { delaySeconds: 0 } })(sessionId, 0);
  };
}
