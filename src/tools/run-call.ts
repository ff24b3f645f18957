// One call
// Owns:     the way from a ready call to its execution: work under a key, timing, progress, what an interruption means.
// Does not: decide whether a call may run (prepareCall), or how often it is tried (the error policy).
// C1. Whatever a tool does, there is exactly one execution, and it is plain JSON.
// C2. An interruption is never a failure: the call is cancelled, or unknown where it had begun and may not run twice.
// C3. Progress that comes after the end is dropped.
// C4. What is journaled is enough to build the same execution again without running the tool.
import type { Clock } from '../lib/index.ts';
import { systemClock, toCanonical } from '../lib/index.ts';
import type { EffectOutcome } from './effect-runner.ts';
import type { ReadyCall } from './prepare-call.ts';
import { reconcileCall } from './reconcile-call.ts';
import type { RunCallOptions } from './run-call-options.ts';
import { runTool } from './run-tool.ts';
import type { SettledResult } from './settle-result.ts';
import { settleResult } from './settle-result.ts';
import type { ToolExecution } from './tool-execution.ts';
import { cancelledExecution, failedExecution, succeededExecution, unknownExecution } from './tool-execution.ts';

interface Journaled extends SettledResult {
  readonly startedAt: number;
  readonly durationMs: number;
}

interface Stopwatch {
  readonly startedAt: number;
  readonly durationMs: () => number;
}

function startWatch(clock: Clock): Stopwatch {
  const [startedAt, began] = [clock.now(), clock.monotonic()];
  return { startedAt, durationMs: () => Math.max(0, Math.round(clock.monotonic() - began)) };
}

type Failed = Extract<EffectOutcome<unknown>, { readonly ok: false }>;

function failedCall(
  { call, tool }: ReadyCall,
  { ok: _, kind, ...failure }: Failed,
  options: RunCallOptions & { readonly watch: Stopwatch },
): ToolExecution {
  const { key, watch } = options;
  // The engine names the work by its key; the model knows it by the tool's name.
  const message = failure.message.startsWith(`${key} `) ? `"${call.name}"${failure.message.slice(key.length)}` : failure.message;
  const doubt = kind === 'timeout' && tool.effect === 'once' ? ' It may or may not have taken effect.' : '';
  return failedExecution(
    call,
    { ...failure, message },
    { startedAt: watch.startedAt, durationMs: watch.durationMs(), text: `"${call.name}" failed: ${message}${doubt}` },
  );
}

function endedCall(
  ready: ReadyCall,
  failed: Failed,
  options: RunCallOptions & { readonly watch: Stopwatch; readonly begun: boolean },
): ToolExecution | Promise<ToolExecution> {
  const { call, tool } = ready;
  const timing = { startedAt: options.watch.startedAt, durationMs: options.watch.durationMs() };
  switch (failed.kind) {
    case 'cancelled':
      return options.begun && tool.effect === 'once' ? unknownExecution(call, timing) : cancelledExecution(call, timing);
    case 'unknown':
      return reconcileCall(ready, { ...options, timing });
    case 'error':
    case 'timeout':
      return failedCall(ready, failed, options);
  }
}

/** A call that runs. A class, because what an async function holds is kept while it waits, and there are many calls. */
class RunningCall<Context> {
  readonly #ready: ReadyCall;
  readonly #options: RunCallOptions<Context>;
  readonly #watch: Stopwatch;
  #begun = false;
  #isOpen = true;

  constructor(ready: ReadyCall, options: RunCallOptions<Context>) {
    this.#ready = ready;
    this.#options = options;
    this.#watch = startWatch(options.clock ?? systemClock);
  }

  begin(): Promise<EffectOutcome<Journaled>> {
    const { effect, timeoutMs } = this.#ready.tool;
    const about = { effect, failsAs: 'tool' as const, ...(timeoutMs !== undefined && { timeoutMs }) };
    return this.#options.run(this.#options.key, (signal) => this.#work(signal), about);
  }

  end(outcome: EffectOutcome<Journaled>): ToolExecution | Promise<ToolExecution> {
    this.#isOpen = false;
    if (outcome.ok) return succeededExecution(this.#ready.call, outcome.value, outcome.value);
    return endedCall(this.#ready, outcome, { ...this.#options, watch: this.#watch, begun: this.#begun });
  }

  async #work(signal: AbortSignal): Promise<Journaled> {
    this.#begun = true;
    return this.#journaled(await this.#settle(await this.#run(signal)));
  }

  #run(signal: AbortSignal): unknown {
    const { context, state, idempotencyKey } = this.#options;
    const report = (progress: unknown): void => this.#report(progress);
    return runTool(this.#ready, { context, signal, toolCallId: this.#ready.call.id, idempotencyKey, state, report });
  }

  #settle(result: unknown): SettledResult | Promise<SettledResult> {
    const { call, tool } = this.#ready;
    return settleResult(tool, result, { id: call.id, args: call.args, onProblem: this.#options.onProblem });
  }

  #journaled(settled: SettledResult): Journaled {
    return { ...settled, startedAt: this.#watch.startedAt, durationMs: this.#watch.durationMs() };
  }

  #report(progress: unknown): void {
    const canonical = this.#isOpen ? toCanonical(progress) : undefined;
    if (canonical?.ok === true) this.#options.onProgress?.(canonical.value);
  }
}

/** Runs a call that is ready. Rejects only where the runner itself does. */
export async function runCall<Context>(ready: ReadyCall, options: RunCallOptions<Context>): Promise<ToolExecution> {
  const running = new RunningCall(ready, options);
  return running.end(await running.begin());
}
