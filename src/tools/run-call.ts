// One call
// Owns:     the way from a ready call to its execution: work under a key, timing, progress, the meaning of an interruption.
// Does not: decide if a call may run (prepareCall), or how often it is tried (the error policy).
// C1. Whatever a tool does, there is exactly one execution, and it is plain JSON.
// C2. An interruption is never a failure: the call is cancelled, or unknown if it had started and may not run twice.
// C3. Progress that comes after the end is dropped.
// C4. The journaled value is enough to build the same execution again without running the tool.
import type { EffectClass, EffectFailure, EffectResult, Effects } from '../effects/index.ts';
import { toFailure } from '../effects/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import type { Clock, Json, Soon } from '../lib/index.ts';
import { isRecord, isThenable, markCanonical, systemClock, toCanonical } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { ReadyCall } from './prepare-call.ts';
import type { StoredResult } from './stored-result.ts';
import { toStoredResult } from './stored-result.ts';
import type { ToolContext } from './tool-context.ts';
import type { ExecutionTiming, ToolExecution } from './tool-execution.ts';
import { toCancelledExecution, toFailedExecution, toSucceededExecution, toUnknownExecution } from './tool-execution.ts';

/** Services and facts that one call runs with. */
export interface RunCallOptions<Context = unknown> {
  readonly effects: Pick<Effects, 'run'>;
  /** Stable within an execution: `tool/<step>/<index>`. */
  readonly key: string;
  /** The same for every attempt at this call. */
  readonly idempotencyKey: string;
  readonly context: Context;
  readonly state?: unknown;
  /** Must not throw. */
  readonly onProgress?: ((progress: Json) => void) | undefined;
  /** Called if `toModelOutput` throws; the model then reads the result itself. @default console.error */
  readonly onProblem?: ProblemReporter | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

interface Journaled extends StoredResult, Required<ExecutionTiming> {}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown, unknown> {
  return isRecord(value) && Symbol.asyncIterator in value && typeof value[Symbol.asyncIterator] === 'function';
}

/** Reports each value as progress. Returns what the iterable returns, or else its last value. */
async function readLast(values: AsyncIterable<unknown, unknown>, { signal, report }: ToolContext): Promise<unknown> {
  const iterator = values[Symbol.asyncIterator]();
  let last: unknown;
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return value === undefined ? last : value;
    if (signal.aborted) {
      await iterator.return?.();
      throw signal.reason;
    }
    last = value;
    report(value);
  }
}

function describeFailure(
  call: ToolCall,
  ended: EffectFailure,
  { key, effect, ...timing }: ExecutionTiming & { readonly key: string; readonly effect: EffectClass },
): ToolExecution {
  const failure = toFailure(ended);
  // The engine names the work by its key; the model knows it by the tool's name.
  const message = failure.message.startsWith(`${key} `) ? `"${call.name}"${failure.message.slice(key.length)}` : failure.message;
  const doubt = ended.kind === 'timeout' && effect === 'once' ? ' It may or may not have taken effect.' : '';
  return toFailedExecution(call, { ...failure, message }, { ...timing, text: `"${call.name}" failed: ${message}${doubt}` });
}

type Finding = { readonly type: 'unknown' | 'not-happened' } | ({ readonly type: 'happened' } & StoredResult);

async function readFinding({ tool, call }: ReadyCall, found: unknown): Promise<Finding> {
  if (!isRecord(found) || typeof found['happened'] !== 'boolean') return { type: 'unknown' };
  return found['happened'] ? { type: 'happened', ...(await toStoredResult(tool, found['result'], call)) } : { type: 'not-happened' };
}

/** Asks the tool about a call whose end nobody saw. If it cannot tell, the call stays unknown. */
async function reconcileCall<Context>(
  ready: ReadyCall,
  { effects, key, idempotencyKey, context, state, timing }: RunCallOptions<Context> & { readonly timing: ExecutionTiming },
): Promise<ToolExecution> {
  const { call, tool } = ready;
  const { reconcile, timeoutMs } = tool;
  if (reconcile === undefined) return toUnknownExecution(call, timing);
  const found = await effects.run(
    `${key}/reconcile`,
    async (signal) => readFinding(ready, await reconcile(idempotencyKey, { context, signal, toolCallId: call.id, state })),
    { effect: 'pure', failsAs: 'tool', timeoutMs },
  );
  if (!found.ok || found.value.type === 'unknown') return toUnknownExecution(call, timing);
  if (found.value.type === 'happened') return toSucceededExecution(call, found.value, { ...timing, maxResultChars: tool.maxResultChars });
  return toCancelledExecution(call, {
    ...timing,
    text: 'The call was interrupted before it took effect. Call it again if it is still wanted.',
  });
}

/** A call while it runs. */
class OpenCall<Context> {
  readonly #ready: ReadyCall;
  readonly #options: RunCallOptions<Context>;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #startedMonotonic: number;
  #hasStarted = false;
  #isOpen = true;

  constructor(ready: ReadyCall, options: RunCallOptions<Context>) {
    this.#ready = ready;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#startedAt = this.#clock.now();
    this.#startedMonotonic = this.#clock.monotonic();
  }

  /** Runs the tool, and returns its result in the form in which it is journaled; at once if the result is there. */
  start(signal: AbortSignal): Soon<Journaled> {
    this.#hasStarted = true;
    const { call, tool, parsed } = this.#ready;
    const { context, idempotencyKey, state } = this.#options;
    const report = (progress: unknown): void => this.#report(progress);
    const ctx: ToolContext<Context> = { context, signal, toolCallId: call.id, idempotencyKey, state, report };
    const returned = tool.run(parsed, ctx);
    return isThenable(returned) || isAsyncIterable(returned) ? this.#finish(returned, ctx) : this.#store(returned);
  }

  /** Returns the execution of a call that has ended. */
  end(ended: EffectResult<Journaled>): Soon<ToolExecution> {
    this.#isOpen = false;
    const { call, tool } = this.#ready;
    if (ended.ok) {
      const { startedAt, durationMs } = ended.value;
      return toSucceededExecution(call, ended.value, { startedAt, durationMs, maxResultChars: tool.maxResultChars });
    }
    const timing = { startedAt: this.#startedAt, durationMs: this.#measure() };
    switch (ended.kind) {
      case 'cancelled':
        return this.#hasStarted && tool.effect === 'once' ? toUnknownExecution(call, timing) : toCancelledExecution(call, timing);
      case 'unknown':
        return reconcileCall(this.#ready, { ...this.#options, timing });
      case 'error':
      case 'timeout':
        return describeFailure(call, ended, { key: this.#options.key, effect: tool.effect, ...timing });
    }
  }

  async #finish(returned: unknown, ctx: ToolContext<Context>): Promise<Journaled> {
    const awaited = await returned;
    return this.#store(isAsyncIterable(awaited) ? await readLast(awaited, ctx) : awaited);
  }

  #store(result: unknown): Soon<Journaled> {
    const { call, tool } = this.#ready;
    const stored = toStoredResult(tool, result, { id: call.id, args: call.args, onProblem: this.#options.onProblem });
    return stored instanceof Promise ? stored.then((late) => this.#toJournaled(late)) : this.#toJournaled(stored);
  }

  #toJournaled({ value, output }: StoredResult): Journaled {
    const journaled = { value, startedAt: this.#startedAt, durationMs: this.#measure() };
    // Stored values are canonical and frozen; an output may not be.
    return output === undefined ? markCanonical(journaled) : { ...journaled, output };
  }

  #report(progress: unknown): void {
    const canonical = this.#isOpen ? toCanonical(progress) : undefined;
    if (canonical?.ok === true) this.#options.onProgress?.(canonical.value);
  }

  #measure(): number {
    return Math.max(0, Math.round(this.#clock.monotonic() - this.#startedMonotonic));
  }
}

/** Runs a call that is ready. Rejects only if the effects do. */
export function runCall<Context>(ready: ReadyCall, options: RunCallOptions<Context>): Promise<ToolExecution> {
  const { effect, timeoutMs } = ready.tool;
  const open = new OpenCall(ready, options);
  const ended = options.effects.run(options.key, (signal) => open.start(signal), { effect, failsAs: 'tool', timeoutMs });
  return ended.then((result) => open.end(result));
}

/** Place of a call whose tool may not be here any more. */
interface RecallOptions {
  readonly effects: Pick<Effects, 'recall'>;
  /** Keys of the call and, if its work is a run of its own, of that run. */
  readonly keys: readonly string[];
  readonly clock: Clock;
  readonly maxResultChars?: number | undefined;
}

// Holds: a value under the key of a call is of our own writing.
const isJournaled = (value: unknown): value is Journaled => isRecord(value) && typeof value['startedAt'] === 'number';

/** Returns the execution of a call that an earlier process began and this one would not make; undefined if none did. */
export function recallCall(call: ToolCall, { effects, keys, clock, maxResultChars }: RecallOptions): ToolExecution | undefined {
  for (const key of keys) {
    const known = effects.recall?.(key);
    if (known === undefined) continue;
    const timing = { startedAt: clock.now() };
    if (!known.ok && known.kind !== 'unknown') return describeFailure(call, known, { key, effect: 'once', ...timing });
    if (!known.ok || !isJournaled(known.value)) return toUnknownExecution(call, timing);
    const { startedAt, durationMs } = known.value;
    return toSucceededExecution(call, known.value, { startedAt, durationMs, maxResultChars });
  }
  return undefined;
}
